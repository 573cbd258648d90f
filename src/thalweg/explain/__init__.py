"""Why, why not, what if: answers re-derived on demand from a result and its input, as one kind of tree.

Nothing is recorded while a reasoner runs. Rule bodies are judged here by the definitions of `thalweg.reference`, over
the timelines that the reasoner has computed.
"""
