event velocity(vessel: symbol, speed: float).
event velocity(vessel: symbol, speed: symbol).
initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, _), T).
terminatedAt(fast(V)=true, T) :- happensAt(halt(V), T).
