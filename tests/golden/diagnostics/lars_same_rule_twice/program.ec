busy(X) :- [5] sometime car(X).
busy(X) :- [5] sometime car(X).
