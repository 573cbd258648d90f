holdsFor(a(X)=true, I) :- holdsFor(b(X)=true, I1), holdsFor(c(X)=true, I2), union_all([I1, I2], I).
holdsFor(b(X)=true, I) :- holdsFor(a(X)=true, I1), complement_all([I1], I).
initiatedAt(c(X)=true, T) :- happensAt(e(X), T).
terminatedAt(c(X)=true, T) :- happensAt(g(X), T).
