(binary_operator lhs: (identifier) @name rhs: (function_definition)) @function
(binary_operator lhs: (string (string_content) @name) rhs: (function_definition)) @function
(program (binary_operator lhs: (identifier) @name) @variable)
(call function: (identifier) @_f arguments: (arguments . (argument (string (string_content) @name))) (#any-of? @_f "setClass" "setRefClass" "R6Class")) @class
(call function: (identifier) @_f arguments: (arguments . (argument (string (string_content) @name))) (#any-of? @_f "setGeneric" "setMethod")) @function
