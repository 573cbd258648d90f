initiatedAt(gap(V)=true, T) :- happensAt(gap_start(V), T).
initiatedAt(quiet(V)=true, T) :- happensAt(gap_start(V), T).
terminatedAt(gap(V)=true, T) :- happensAt(gapStart(V), T).
terminatedAt(quiet(V)=true, T) :- happensAt(noise(V), T).
