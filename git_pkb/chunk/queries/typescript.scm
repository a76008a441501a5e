(abstract_class_declaration name: (_) @name) @class
(export_statement (abstract_class_declaration name: (_) @name)) @class
(interface_declaration name: (_) @name) @interface
(export_statement (interface_declaration name: (_) @name)) @interface
(type_alias_declaration name: (_) @name) @type
(export_statement (type_alias_declaration name: (_) @name)) @type
(enum_declaration name: (_) @name) @enum
(export_statement (enum_declaration name: (_) @name)) @enum
(internal_module name: (_) @name) @module
(expression_statement (internal_module name: (_) @name)) @module
(export_statement (internal_module name: (_) @name)) @module
(module name: (_) @name) @module
(function_signature name: (identifier) @name) @prototype
(export_statement (function_signature name: (identifier) @name)) @prototype
(ambient_declaration (function_signature name: (identifier) @name)) @prototype
(method_signature name: (_) @name) @prototype
(abstract_method_signature name: (_) @name) @prototype
(property_signature name: (_) @name) @field
(class_body (public_field_definition name: (_) @name) @field)
(class_body (public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @method)
(program (ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name))) @variable)
