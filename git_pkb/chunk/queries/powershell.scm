(function_statement (function_name) @name) @function
(class_statement . (simple_name) @name) @class
(enum_statement . (simple_name) @name) @enum
(class_method_definition (simple_name) @name) @method
(class_property_definition (variable) @name) @field
