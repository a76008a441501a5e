(contract_declaration name: (_) @name) @class
(library_declaration name: (_) @name) @module
(interface_declaration name: (_) @name) @interface
(struct_declaration name: (_) @name) @struct
(enum_declaration name: (_) @name) @enum
(event_definition name: (_) @name) @type
(error_declaration name: (_) @name) @type
(modifier_definition name: (_) @name) @method
(function_definition name: (_) @name body: (_)) @function
(function_definition name: (_) @name !body) @prototype
(constructor_definition "constructor" @name) @method
(state_variable_declaration name: (_) @name) @field
(struct_member name: (_) @name) @field
