(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(class name: (_) @name) @class
(method_definition name: (_) @name) @method
(export_statement (function_declaration name: (identifier) @name)) @function
(export_statement (generator_function_declaration name: (identifier) @name)) @function
(export_statement (class_declaration name: (_) @name)) @class
(lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @function
(variable_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @function
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]))) @function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class))) @class
(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
(program (lexical_declaration . (variable_declarator name: (identifier) @name) .) @variable)
(program (variable_declaration . (variable_declarator name: (identifier) @name) .) @variable)
(program (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name) .)) @variable)
(expression_statement (assignment_expression left: (member_expression) @path right: [(arrow_function) (function_expression) (generator_function)])) @function
(expression_statement (assignment_expression left: (identifier) @name right: [(arrow_function) (function_expression)])) @function
(expression_statement (assignment_expression left: (member_expression) @path right: (class))) @class
(object (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function)
