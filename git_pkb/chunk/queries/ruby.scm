(module name: (_) @path) @module
(class name: (_) @path) @class
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(call method: (identifier) @_kw arguments: (argument_list [(method name: (_) @name) (singleton_method name: (_) @name)])) @method
(assignment left: (constant) @name) @constant
(assignment left: (constant) @name right: (call receiver: (constant) @_r method: (identifier) @_m block: (_)) (#any-of? @_r "Struct" "Class" "Module" "Data") (#any-of? @_m "new" "define")) @class
(call method: (identifier) @_kw arguments: (argument_list . (simple_symbol) @name) (#any-of? @_kw "define_method" "scope" "define_singleton_method")) @method
(call method: (identifier) @_kw arguments: (argument_list (simple_symbol) @name) (#any-of? @_kw "attr_reader" "attr_accessor" "attr_writer" "belongs_to" "has_many" "has_one" "mattr_accessor" "cattr_accessor" "class_attribute")) @field
(alias name: (_) @name) @method
