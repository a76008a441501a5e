(struct_definition . type: (identifier) @name) @struct
(union_definition . type: (identifier) @name) @struct
(exception_definition (identifier) @name) @struct
(service_definition . type: (identifier) @name) @interface
(enum_definition . type: (identifier) @name) @enum
(function_definition (identifier) @name) @prototype
(const_definition (identifier) @name) @constant
(typedef_definition (typedef_identifier) @name) @type
