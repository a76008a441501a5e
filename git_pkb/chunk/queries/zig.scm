(Decl (FnProto function: (IDENTIFIER) @name) (Block)) @function
(Decl (FnProto function: (IDENTIFIER) @name)) @prototype
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name)) @constant
(ContainerField field_member: (IDENTIFIER) @name) @field
(TestDecl (STRINGLITERALSINGLE) @name) @function
