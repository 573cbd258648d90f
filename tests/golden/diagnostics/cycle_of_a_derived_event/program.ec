happensAt(alarm(X), T) :- happensAt(start(on(X)=true), T).
initiatedAt(on(X)=true, T) :- happensAt(alarm(X), T).
terminatedAt(on(X)=true, T) :- happensAt(off(X), T).
