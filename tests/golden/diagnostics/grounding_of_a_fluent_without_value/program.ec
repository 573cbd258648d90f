initiatedAt(gap(V)=near, T) :- happensAt(gap_start(V), T).
terminatedAt(gap(V)=_, T) :- happensAt(gap_end(V), T).
grounding(gap(V)) :- vessel(V).
grounding(gap_start(V)) :- vessel(V).
vessel(v1).
