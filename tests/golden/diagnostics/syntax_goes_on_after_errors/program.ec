initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T) happensAt(e(V), T).
terminatedAt(gap(V)=true, T :- happensAt(gap_end(V), T).
initiatedAt(slow(V)=true, T) :- happensAt(slow_start(Vessel), T).
terminatedAt(slow(V)=true, T) :- happensAt(slow_end(V), T).
