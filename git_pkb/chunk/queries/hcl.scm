(config_file (body (block . (identifier) @name) @struct))
