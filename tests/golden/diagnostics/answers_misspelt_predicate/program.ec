warning(X, T) :- temp(X, high, T), temp(X, high, T+1).
malf(X, T) :- warnin(X, T), shdn(X, T+2).
query malf(X, T).
