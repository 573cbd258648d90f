initiatedAt(a(X)=true, T) :- happensAt(a1(X), T).
terminatedAt(a(X)=true, T) :- happensAt(a0(X), T).
initiatedAt(b(X)=true, T) :- happensAt(a1(X), T).
terminatedAt(b(X)=true, T) :- happensAt(a0(X), T), holdsAt(a(X)=true).
holdsFor(both(X)=true, I) :- holdsFor(a(X)=true, A), holdsFor(b(X)=true, B), intersect_all(A, B, I).
holdsFor(long(X)=true, I) :- holdsFor(a(X)=true, A), intDurGreater(A, 60).
