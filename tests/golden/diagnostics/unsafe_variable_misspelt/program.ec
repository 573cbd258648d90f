initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, Speed), T), Sped > 10, Speed < 50.
terminatedAt(fast(V)=true, T) :- happensAt(halt(V), T).
