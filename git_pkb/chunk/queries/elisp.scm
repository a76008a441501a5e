(function_definition name: (_) @name) @function
(macro_definition name: (_) @name) @macro
(special_form . "defvar" . (symbol) @name) @variable
(special_form . "defconst" . (symbol) @name) @constant
(list . (symbol) @_kw . (symbol) @name (#any-of? @_kw "defcustom" "defgroup" "defface" "defvar-local")) @variable
(list . (symbol) @_kw . (symbol) @name (#any-of? @_kw "define-minor-mode" "define-derived-mode" "cl-defun" "cl-defmethod" "cl-defgeneric" "defalias")) @function
