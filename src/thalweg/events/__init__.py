"""The Event Calculus reasoner: simple, determined, cyclic and delayed fluents over sliding windows, incrementally.

`normal` flattens a program, `plan` compiles it, `bodies` evaluates rule bodies set-at-a-time, `simple` and `determined`
keep timelines, and `reasoner` moves the window. Nothing here imports another reasoner.
"""
