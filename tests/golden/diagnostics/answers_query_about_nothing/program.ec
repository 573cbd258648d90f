malf(X, T) :- shdn(X, T).
query malfunction(X, T).
