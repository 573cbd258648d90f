initiatedAt(f(X)=true, T) :- happensAt(e(X), T), holdsAt(g(X)=true, T2).
terminatedAt(f(X)=true, T) :- happensAt(h(X), T), happensAt(k(X), T0), T0 < T.
initiatedAt(g(X)=true, T) :- happensAt(k(X), T).
terminatedAt(g(X)=true, T) :- happensAt(h(X), T).
