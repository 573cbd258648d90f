initiatedAt(quiet(X)=true, T) :- happensAt(e(X), T), \+ happensAt(call(X, Y), T), \+ happensAt(visit(X, Y), T).
terminatedAt(quiet(X)=true, T) :- happensAt(g(X), T).
