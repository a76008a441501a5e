(list_lit . value: (sym_lit name: (sym_name) @_kw) . value: (sym_lit name: (sym_name) @name) (#any-of? @_kw "defn" "defn-" "defmulti" "defmethod" "deftest")) @function
(list_lit . value: (sym_lit name: (sym_name) @_kw) . value: (sym_lit name: (sym_name) @name) (#any-of? @_kw "defmacro")) @macro
(list_lit . value: (sym_lit name: (sym_name) @_kw) . value: (sym_lit name: (sym_name) @name) (#any-of? @_kw "def" "defonce" "s/def")) @constant
(list_lit . value: (sym_lit name: (sym_name) @_kw) . value: (sym_lit name: (sym_name) @name) (#any-of? @_kw "defrecord" "deftype")) @class
(list_lit . value: (sym_lit name: (sym_name) @_kw) . value: (sym_lit name: (sym_name) @name) (#any-of? @_kw "defprotocol" "definterface")) @interface
(list_lit . value: (sym_lit name: (sym_name) @_kw) . value: (sym_lit name: (sym_name) @path) (#eq? @_kw "ns")) @module
