initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
holdsFor(b(X)=true, I) :- holdsFor(a(X)=true, I), happensAt(e(X), T), T > 3.
