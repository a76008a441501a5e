(function name: (_) @name) @function
(external_function name: (_) @name) @prototype
(type_definition (type_name name: (_) @name)) @type
(type_alias (type_name name: (_) @name)) @type
(constant name: (_) @name) @constant
(data_constructor name: (_) @name) @constant
