initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T), moving(V).
terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).
initiatedAt(moving(V)=true, T) :- happensAt(go(V), T).
terminatedAt(moving(V)=true, T) :- happensAt(halt(V), T).
vessel(a).
