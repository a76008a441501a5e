"""One file a subcommand: `add_arguments(parser)` and `run(args) -> int`; no algorithms."""
