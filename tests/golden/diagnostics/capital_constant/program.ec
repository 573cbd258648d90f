initiatedAt(open(Door)=True, T) :- happensAt(opened(Door), T).
terminatedAt(open(Door)=_, T) :- happensAt(closed(Door), T).
