event velocity(vessel: symbol, speed: symbol).
initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S > 10.
terminatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S =< 10.
