(package_statement name: (_) @path (block)) @class
(package_statement name: (_) @path) @module
(class_statement name: (_) @path) @class
(subroutine_declaration_statement name: (_) @name) @function
(method_declaration_statement name: (_) @name) @method
(use_statement module: (package) @_m (list_expression . (autoquoted_bareword) @name) (#eq? @_m "constant")) @constant
