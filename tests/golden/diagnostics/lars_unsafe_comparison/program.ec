busy(X) :- [5] sometime car(X), S > 3.
