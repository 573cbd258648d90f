initiatedAt(busy(X)=true, T) :- happensAt(e(X), T), (kind(X, K) ; other(X)), K > 3.
terminatedAt(busy(X)=true, T) :- happensAt(g(X), T).
kind(a, 1). other(b).
