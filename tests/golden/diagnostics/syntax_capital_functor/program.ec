initiatedAt(gap(V)=true, T) :- happensAt(Gap_start(V), T).
terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).
