(value_definition . (let_binding pattern: (value_name) @name (parameter)) .) @function
(value_definition . (let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)]) .) @function
(value_definition . (let_binding pattern: (value_name) @name) .) @constant
(value_definition (let_binding pattern: (value_name) @name (parameter)) @function)
(value_definition (let_binding pattern: (value_name) @name) @constant)
(module_definition (module_binding (module_name) @name)) @module
(module_type_definition (module_type_name) @name) @interface
(type_definition . (type_binding name: (_) @name) .) @type
(type_definition (type_binding name: (_) @name) @type)
(class_definition (class_binding (class_name) @name)) @class
(method_definition (method_name) @name) @method
(exception_definition (constructor_declaration (constructor_name) @name)) @type
(external (value_name) @name) @prototype
(value_specification (value_name) @name) @prototype
(field_declaration (field_name) @name) @field
