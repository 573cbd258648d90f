"""The definitions of SEMANTICS, executable, slow and obvious: the judge of every fast path.

Pure Python over ground terms. Nothing here may be imported by a reasoner, and nothing here imports one;
`thalweg verify` and the tests compare the two.
"""
