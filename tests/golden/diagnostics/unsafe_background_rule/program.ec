initiatedAt(big(V)=true, T) :- happensAt(seen(V), T), large(V).
terminatedAt(big(V)=true, T) :- happensAt(lost(V), T).
large(V) :- length_of(V, L), L > Limit.
length_of(a, 120).
