initiatedAt(seen(X)=true, T) :- happensAt(enter(X), T).
