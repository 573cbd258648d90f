shdn(X, 3).
malf(X, T-2) :- shdn(X, T).
query malf(X, T).
