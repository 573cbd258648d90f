initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T), assert(seen(V)).
terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).
