(function_def (function_command (argument_list . (argument) @name))) @function
(macro_def (macro_command (argument_list . (argument) @name))) @macro
(normal_command (identifier) @_kw (argument_list . (argument) @name) (#any-of? @_kw "add_executable" "add_library" "add_custom_target" "option" "project")) @constant
