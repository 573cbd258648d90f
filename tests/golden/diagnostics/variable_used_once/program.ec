initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V, Place), T).
terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).
