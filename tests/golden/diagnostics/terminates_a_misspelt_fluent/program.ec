initiatedAt(watched(Door)=true, T) :- happensAt(opened(Door), T).
terminatedAt(wathced(Door)=true, T) :- happensAt(closed(Door), T).
