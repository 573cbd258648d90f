event velocity(v: symbol, s: real).
initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S > 10.
terminatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S =< 10.
