initiatedAt(light(X)=green, T) :- happensAt(go(X), T).
terminatedAt(light(X)=greem, T) :- happensAt(halt(X), T).
