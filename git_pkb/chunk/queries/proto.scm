(message (message_name (identifier) @name)) @struct
(enum (enum_name (identifier) @name)) @enum
(service (service_name (identifier) @name)) @interface
(rpc (rpc_name (identifier) @name)) @prototype
(field (identifier) @name) @field
(oneof . (identifier) @name) @field
(enum_field . (identifier) @name) @constant
