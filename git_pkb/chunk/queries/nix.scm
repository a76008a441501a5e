(binding attrpath: (attrpath) @path expression: (function_expression)) @function
(source_code (attrset_expression (binding_set (binding attrpath: (attrpath) @path) @variable)))
(source_code (function_expression body: (attrset_expression (binding_set (binding attrpath: (attrpath) @path) @variable))))
