initiatedAt(load(V)=L, T) :- happensAt(take(V, N), T), L is N + Old.
terminatedAt(load(V)=_, T) :- happensAt(empty(V), T).
