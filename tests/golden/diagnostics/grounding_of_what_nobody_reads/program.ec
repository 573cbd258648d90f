event arrives(v). event departs(v).
initiatedAt(moving(V)=true, T) :- happensAt(departs(V), T).
terminatedAt(moving(V)=true, T) :- happensAt(arrives(V), T).
grounding(movng(V)=true) :- vessel(V).
grounding(arives(V)) :- vessel(V).
grounding(resting(V)=true) :- vessel(V).
grounding(waits(V)) :- vessel(V).
vessel(v1).
