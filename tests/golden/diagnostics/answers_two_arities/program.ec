warn(X, T) :- temp(X, high, T), temp(X, T).
query warn(X, T).
