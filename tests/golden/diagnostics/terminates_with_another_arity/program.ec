initiatedAt(open(Door)=true, T) :- happensAt(opened(Door), T).
terminatedAt(open(Door, _)=true, T) :- happensAt(closed(Door), T).
