initiatedAt(f(X)=true, T+5) :- happensAt(e(X), T).
terminatedAt(f(X)=true, T) :- happensAt(g(X), T-1), happensAt(k(X), T).
