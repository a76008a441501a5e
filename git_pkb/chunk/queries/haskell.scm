(declarations (function name: (_) @name) @function)
(declarations (function (infix operator: (_) @name)) @function)
(declarations (bind name: (_) @name) @function)
(declarations (signature name: (_) @name) @prototype)
(declarations (data_type name: (_) @name) @type)
(declarations (newtype name: (_) @name) @type)
(declarations (type_synomym name: (_) @name) @type)
(declarations (type_family name: (_) @name) @type)
(declarations (class name: (_) @name) @class)
(declarations (instance name: (_) @path) @impl)
(class_declarations (signature name: (_) @name) @prototype)
(class_declarations [(function name: (_) @name) (bind name: (_) @name)] @method)
(instance_declarations [(function name: (_) @name) (bind name: (_) @name)] @method)
(field name: (field_name (variable) @name)) @field
(data_constructor constructor: (_ name: (constructor) @name)) @constant
(pattern_synonym (equation synonym: (apply function: (constructor) @name))) @constant
