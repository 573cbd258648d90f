[3] sometime a if c.
[3] always a if c.
[3] at(T) a if c.
a [3] if c.
b if a.
