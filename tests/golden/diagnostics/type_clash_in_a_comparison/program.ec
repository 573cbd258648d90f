initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S > fast.
terminatedAt(fast(V)=true, T) :- happensAt(halt(V), T).
