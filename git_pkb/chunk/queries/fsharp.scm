(module_defn (identifier) @name) @module
(named_module name: (_) @path) @module
(namespace name: (_) @path) @module
(function_or_value_defn (function_declaration_left . (identifier) @name)) @function
(function_or_value_defn (value_declaration_left (identifier_pattern (long_identifier_or_op (identifier) @name)))) @constant
(type_definition (_ (type_name type_name: (identifier) @name))) @type
(member_defn (method_or_prop_defn name: (property_or_ident method: (identifier) @name))) @method
(record_field . (identifier) @name) @field
