initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).
initiatedAt(quiet(V)=true, T) :- happensAt(gap_start(V), T).
terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).
terminatedAt(quiet(V)=true, T) :- happensAt(gap_start(V, _), T).
