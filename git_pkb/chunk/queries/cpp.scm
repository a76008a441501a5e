(function_definition declarator: (_) @declarator) @function
(template_declaration (function_definition declarator: (_) @declarator)) @function
(declaration declarator: (function_declarator declarator: (identifier)) @declarator) @prototype
(declaration declarator: (pointer_declarator (function_declarator)) @declarator) @prototype
(declaration declarator: (reference_declarator (function_declarator)) @declarator) @prototype
(template_declaration (declaration declarator: (function_declarator) @declarator)) @prototype
(field_declaration declarator: (function_declarator) @declarator) @prototype
(field_declaration declarator: (pointer_declarator (function_declarator)) @declarator) @prototype
(field_declaration declarator: (reference_declarator (function_declarator)) @declarator) @prototype
(translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable)
(translation_unit (declaration declarator: (identifier) @name) @variable)
(namespace_definition (declaration_list (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable))
(class_specifier name: (type_identifier) @name body: (_)) @class
(class_specifier name: (template_type name: (_) @name) body: (_)) @class
(class_specifier name: (qualified_identifier) @path body: (_)) @class
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(struct_specifier name: (template_type name: (_) @name) body: (_)) @struct
(struct_specifier name: (qualified_identifier) @path body: (_)) @struct
(template_declaration (class_specifier name: (_) @path body: (_))) @class
(template_declaration (struct_specifier name: (_) @path body: (_))) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (_) @name) @constant
(namespace_definition name: (_) @path) @module
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(template_declaration (alias_declaration name: (_) @name)) @type
(template_declaration (concept_definition name: (_) @name)) @type
(field_declaration declarator: (field_identifier) @name) @field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @field
(type_definition type: (struct_specifier body: (_)) declarator: (type_identifier) @name) @struct
(type_definition declarator: (_) @declarator) @type
(preproc_function_def name: (_) @name) @macro
(preproc_def name: (_) @name value: (_)) @constant
