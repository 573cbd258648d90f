initiatedAt(busy(X)=true, T) :- happensAt(e(X), T).
terminatedAt(busy(X)=true, T) :- happensAt(g(X), T).
holdsFor(busy(X)=true, I) :- holdsFor(work(X)=true, I).
initiatedAt(work(X)=true, T) :- happensAt(e(X), T).
terminatedAt(work(X)=true, T) :- happensAt(g(X), T).
