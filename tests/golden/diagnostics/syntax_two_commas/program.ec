initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T),, vessel(V).
vessel(a).
