"""Test helpers that users get too: golden cases, random programs and streams, table-shaped comparisons.

Nothing here is imported by a reasoner. The strategies need Hypothesis, the rest needs nothing beyond the package.
"""
