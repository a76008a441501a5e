(function_definition declarator: (_) @declarator) @function
(translation_unit (declaration declarator: (function_declarator) @declarator) @prototype)
(translation_unit (declaration declarator: (pointer_declarator (function_declarator)) @declarator) @prototype)
(declaration declarator: (function_declarator declarator: (identifier)) @declarator) @prototype
(declaration declarator: (pointer_declarator (function_declarator)) @declarator) @prototype
(translation_unit (declaration declarator: (init_declarator declarator: (_) @declarator)) @variable)
(translation_unit (declaration declarator: (identifier) @name) @variable)
(translation_unit (declaration declarator: (array_declarator) @declarator) @variable)
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (_) @name) @constant
(field_declaration declarator: (field_identifier) @name) @field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @field
(type_definition type: (struct_specifier body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier body: (_)) declarator: (type_identifier) @name) @enum
(type_definition declarator: (_) @declarator) @type
(preproc_function_def name: (_) @name) @macro
(preproc_def name: (_) @name value: (_)) @constant
