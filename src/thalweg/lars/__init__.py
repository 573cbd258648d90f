"""LARS: rules over windows, kept true as the stream moves. Labels are interval sets; nothing scans a window.

Here live the analysis of LARS programs, their dataflow, the kernels over labelled tuples and the reasoner.
"""
