(class_declaration "enum" (type_identifier) @name) @enum
(class_declaration "interface" (type_identifier) @name) @interface
(class_declaration "class" (type_identifier) @name) @class
(object_declaration (type_identifier) @name) @class
(companion_object (type_identifier) @name) @class
(type_alias (type_identifier) @name) @type
(function_declaration (simple_identifier) @name (function_body)) @function
(function_declaration (simple_identifier) @name) @prototype
(source_file (property_declaration (variable_declaration . (simple_identifier) @name)) @variable)
(class_body (property_declaration (variable_declaration . (simple_identifier) @name)) @field)
(class_parameter (binding_pattern_kind) (simple_identifier) @name) @field
(enum_entry . (simple_identifier) @name) @constant
