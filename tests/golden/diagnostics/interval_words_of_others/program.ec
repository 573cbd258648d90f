initiatedAt(a(X)=true, T) :- happensAt(a1(X), T).
terminatedAt(a(X)=true, T) :- happensAt(a0(X), T).
initiatedAt(b(X)=true, T) :- happensAt(b1(X), T).
terminatedAt(b(X)=true, T) :- happensAt(b0(X), T).
holdsFor(both(X)=true, I) :- holdsFor(a(X)=true, A), holdsFor(b(X)=true, B), intersection_all([A, B], I).
holdsFor(rest(X)=true, I) :- holdsFor(a(X)=true, A), holdsFor(b(X)=true, B), relative_complement(A, [B], I).
holdsFor(long(X)=true, I) :- holdsFor(a(X)=true, A), intDurGreaterThan(A, 60, I).
