(value_declaration (function_declaration_left . (lower_case_identifier) @name)) @function
(type_annotation name: (_) @name) @prototype
(port_annotation name: (_) @name) @prototype
(type_declaration name: (_) @name) @type
(type_alias_declaration name: (_) @name) @type
(union_variant name: (_) @name) @constant
(field_type name: (_) @name) @field
