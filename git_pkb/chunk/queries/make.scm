(rule (targets . (word) @name)) @function
(makefile (variable_assignment name: (word) @name) @variable)
(define_directive name: (word) @name) @macro
