(module_definition name: (_) @name) @module
(function_definition (signature (call_expression . (_) @path))) @function
(function_definition (signature (where_expression (call_expression . (_) @path)))) @function
(function_definition (signature (typed_expression (call_expression . (_) @path)))) @function
(assignment . (call_expression . (_) @path)) @function
(assignment . (where_expression (call_expression . (_) @path))) @function
(macro_definition (signature (call_expression . (_) @path))) @macro
(struct_definition (type_head (identifier) @name)) @struct
(struct_definition (type_head (binary_expression . (identifier) @name))) @struct
(struct_definition (type_head (parametrized_type_expression . (identifier) @name))) @struct
(struct_definition (type_head (binary_expression . (parametrized_type_expression . (identifier) @name)))) @struct
(abstract_definition (type_head (identifier) @name)) @type
(abstract_definition (type_head (binary_expression . (identifier) @name))) @type
(const_statement (assignment . (identifier) @name)) @constant
