malf(X, T) :- shdn(X, T), temp(X, high).
query malf(X, T).
