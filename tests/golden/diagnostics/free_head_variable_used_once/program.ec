initiatedAt(within(V, A)=true, T) :- happensAt(enters(V, A), T).
terminatedAt(within(V, A)=true, T) :- happensAt(gap_start(V), T).
