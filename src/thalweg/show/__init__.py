"""Pictures: dependency graphs of programs and timelines of results, as pages, SVG and text.

Nothing here reasons; what comes from programs and data is escaped wherever it is written.
"""
