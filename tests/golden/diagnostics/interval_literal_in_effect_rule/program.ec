initiatedAt(a(X)=true, T) :- happensAt(e(X), T), holdsFor(b(X)=true, I), I \= [].
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
initiatedAt(b(X)=true, T) :- happensAt(e(X), T).
terminatedAt(b(X)=true, T) :- happensAt(g(X), T).
