(fun_decl clause: (function_clause name: (_) @name)) @function
(record_decl name: (_) @name) @struct
(pp_define lhs: (macro_lhs name: (_) @name)) @macro
(type_alias name: (type_name name: (_) @name)) @type
(opaque name: (type_name name: (_) @name)) @type
(module_attribute name: (_) @name) @module
(callback fun: (_) @name) @prototype
