"""The command line: one module per command, named like it, with a function named like it.

A new module here is a new command; nothing else has to be told. Commands are imported when they are called, so
that `thalweg --help` stays light; whatever is heavy is imported inside the function.
"""
