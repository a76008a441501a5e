(class_interface . (identifier) @name) @interface
(class_implementation . (identifier) @name) @class
(protocol_declaration . (identifier) @name) @interface
(method_definition . (method_type) . (identifier) @name) @method
(method_declaration . (method_type) . (identifier) @name) @prototype
(property_declaration (struct_declaration (struct_declarator (identifier) @name))) @field
(function_definition declarator: (_) @declarator) @function
(translation_unit (declaration declarator: (function_declarator) @declarator) @prototype)
(preproc_def name: (_) @name value: (_)) @constant
(preproc_function_def name: (_) @name) @macro
(struct_specifier name: (_) @name) @struct
(type_definition declarator: (_) @declarator) @type
