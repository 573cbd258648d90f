"""Seeded streams for the examples and the benchmarks, as columns.

Each generator is a function of sizes, rates and a seed that returns a `Stream`: one `Table` of columns per
event or input fluent, sorted by time, the same for the same arguments on every machine. `columns` says what a
table is, delays it, turns it into reasoner rows and writes it to files. No rule is evaluated here.
"""
