event alarm(x: symbol).
happensAt(alarm(X), T) :- happensAt(fire(X), T).
initiatedAt(danger(X)=true, T) :- happensAt(alarm(X), T).
terminatedAt(danger(X)=true, T) :- happensAt(clear(X), T).
