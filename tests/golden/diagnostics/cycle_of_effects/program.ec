initiatedAt(a(X)=true, T) :- initiatedAt(b(X)=true, T).
initiatedAt(b(X)=true, T) :- initiatedAt(a(X)=true, T).
terminatedAt(a(X)=true, T) :- happensAt(e(X), T).
terminatedAt(b(X)=true, T) :- happensAt(e(X), T).
