event velocity(vessel: symbol, speed: float, heading: float).
initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S > 10.
terminatedAt(fast(V)=true, T) :- happensAt(velocity(V, S, _), T), S =< 10.
