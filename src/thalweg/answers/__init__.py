"""Temporal Datalog with open answers: what is certain, what may still come true, and what it hangs on.

`offline` turns a program into a plan (P_Q, bounds, refusals), `reasoner` runs the plan over a stream. Nothing here
knows about events and fluents or about LARS.
"""
