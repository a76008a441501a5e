(list_lit (defun (defun_header function_name: (_) @name))) @function
(list_lit . value: (sym_lit) @_kw . value: (sym_lit) @name (#any-of? @_kw "defclass" "defstruct" "define-condition")) @class
(list_lit . value: (sym_lit) @_kw . value: (sym_lit) @name (#any-of? @_kw "defvar" "defparameter" "defconstant")) @constant
