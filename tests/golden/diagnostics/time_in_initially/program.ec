initially(a(X)=true) :- happensAt(e(X), 0).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
