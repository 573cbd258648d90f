initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V)).
