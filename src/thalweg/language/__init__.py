"""Text to Program and back: grammar, terms, rules, declarations, diagnostics, printer.

Data only: nothing here evaluates anything, and nothing here knows about the rooms that do.
"""
