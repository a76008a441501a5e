(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @prototype
(struct_item name: (_) @name) @struct
(union_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(trait_item name: (_) @name) @trait
(impl_item type: (generic_type type: (scoped_type_identifier name: (_) @name))) @impl
(impl_item type: (generic_type type: (_) @name)) @impl
(impl_item type: (scoped_type_identifier name: (_) @name)) @impl
(impl_item type: (reference_type type: (type_identifier) @name)) @impl
(impl_item type: (_) @name) @impl
(mod_item name: (_) @name body: (_)) @module
(macro_definition name: (_) @name) @macro
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(field_declaration name: (_) @name) @field
(enum_variant name: (_) @name) @field
