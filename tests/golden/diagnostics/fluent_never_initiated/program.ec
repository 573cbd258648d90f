initiatedAt(a(X)=true, T) :- happensAt(e(X), T), holdsAt(b(X)=true, T).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
terminatedAt(b(X)=true, T) :- happensAt(g(X), T).
happensAt(alarm(X), T) :- happensAt(start(a(X)=true), T).
initiatedAt(loud(X)=true, T) :- happensAt(alarm(X), T).
terminatedAt(loud(X)=true, T) :- happensAt(hush(X), T).
