event velocity(vessel: symbol, speed: float).
event stop(vessel: symbol).
initiatedAt(moving(V)=true, T) :- happensAt(velocity(V, S), T), S > 1.
terminatedAt(moving(V)=true, T) :- happensAt(velocity(V, S), T), S =< 1.
