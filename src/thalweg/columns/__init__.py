"""The physical layer: constants as integers, keys as dense ids, sorted lists per id, and the kernels over them.

Nothing here knows about rules or reasoners; arrays go in, arrays come out.
"""
