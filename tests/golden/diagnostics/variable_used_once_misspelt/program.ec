initiatedAt(gap(Vessel)=true, T) :- happensAt(gap_start(Vessel), T), type(Vesel, fishing).
terminatedAt(gap(Vessel)=true, T) :- happensAt(gap_end(Vessel), T).
type(a, fishing).
