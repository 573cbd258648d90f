malf(X, Y, T) :- temp(X, high, T).
query malf(X, Y, T).
