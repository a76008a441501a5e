(class_definition name: (_) @name) @class
(enum_declaration name: (_) @name) @enum
(mixin_declaration (identifier) @name) @class
(extension_declaration name: (_) @name) @impl
(type_alias . (type_identifier) @name) @type
(program (function_signature name: (_) @name) @function . (function_body) @end)
(program (getter_signature name: (_) @name) @function . (function_body) @end)
((method_signature (function_signature name: (_) @name)) @method . (function_body) @end)
((method_signature (getter_signature name: (_) @name)) @method . (function_body) @end)
((method_signature (setter_signature name: (_) @name)) @method . (function_body) @end)
((method_signature (factory_constructor_signature (identifier) @name)) @method . (function_body) @end)
((method_signature (constructor_signature name: (_) @name)) @method . (function_body) @end)
(declaration (constructor_signature name: (_) @name)) @method
(declaration (constant_constructor_signature (identifier) @name)) @method
(declaration (function_signature name: (_) @name)) @prototype
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @field
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @constant
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @constant))
(enum_constant name: (_) @name) @constant
