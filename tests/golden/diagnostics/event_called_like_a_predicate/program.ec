initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T), \+ stop_start(V).
terminatedAt(gap(V)=true, T) :- happensAt(stop_start(V), T).
vessel(a).
