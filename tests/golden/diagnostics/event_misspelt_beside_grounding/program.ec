initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).
terminatedAt(gap(V)=true, T) :- happensAt(gap_strat(V), T).
grounding(gap_start(V)) :- vessel(V).
grounding(gap(V)=true) :- vessel(V).
vessel(a).
