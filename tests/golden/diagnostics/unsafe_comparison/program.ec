initiatedAt(fast(V)=true, T) :- happensAt(move(V), T), Speed > 10.
terminatedAt(fast(V)=true, T) :- happensAt(halt(V), T).
