initiatedAt(count(X)=N, T) :- happensAt(add(X, M), T), N is M + 1.
initiatedAt(count(X)=none, T) :- happensAt(clear(X), T).
