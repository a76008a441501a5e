(create_table (object_reference) @path) @struct
(create_view (object_reference) @path) @struct
(create_materialized_view (object_reference) @path) @struct
(create_type (object_reference) @path) @type
(create_function (object_reference) @path) @function
(create_trigger . (keyword_create) (keyword_trigger) . (object_reference) @path) @function
(create_index column: (identifier) @name) @constant
(create_sequence (object_reference) @path) @constant
(create_schema (identifier) @name) @module
(column_definition name: (_) @name) @field
