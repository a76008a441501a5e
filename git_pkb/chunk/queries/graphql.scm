(object_type_definition (name) @name) @type
(object_type_extension (name) @name) @type
(input_object_type_definition (name) @name) @type
(interface_type_definition (name) @name) @interface
(enum_type_definition (name) @name) @enum
(union_type_definition (name) @name) @type
(scalar_type_definition (name) @name) @type
(directive_definition (name) @name) @macro
(operation_definition (name) @name) @function
(fragment_definition (fragment_name (name) @name)) @function
(field_definition (name) @name) @field
