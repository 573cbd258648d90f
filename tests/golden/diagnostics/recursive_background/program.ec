initiatedAt(under(X, Y)=true, T) :- happensAt(look(X), T), above(Y, X).
terminatedAt(under(X, Y)=true, T) :- happensAt(move(X, Y), T).
above(X, Y) :- on(X, Y).
above(X, Y) :- on(X, Z), above(Z, Y).
on(a, b).
