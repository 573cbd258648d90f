busy(X) :- [5] sometime car(X), not [3] always car(X, red).
