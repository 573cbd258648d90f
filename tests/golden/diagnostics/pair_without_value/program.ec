initiatedAt(gap(V), T) :- happensAt(gap_start(V), T).
