(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (type_identifier) @scope)) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (type_identifier) @scope))) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (generic_type type: (_) @scope))) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (generic_type type: (_) @scope)))) name: (_) @name) @method
(type_declaration . (type_spec name: (_) @name type: (struct_type)) .) @struct
(type_declaration . (type_spec name: (_) @name type: (interface_type)) .) @interface
(type_declaration . (type_spec name: (_) @name) .) @type
(type_spec name: (_) @name type: (struct_type)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_declaration (type_alias name: (_) @name)) @type
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(source_file (const_declaration . (const_spec name: (identifier) @name) .) @constant)
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))
(source_file (var_declaration . (var_spec name: (identifier) @name) .) @variable)
(field_declaration name: (field_identifier) @name) @field
(interface_type (method_elem name: (_) @name) @prototype)
