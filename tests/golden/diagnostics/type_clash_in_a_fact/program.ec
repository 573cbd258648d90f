initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), limit(V, M), S > M.
terminatedAt(fast(V)=true, T) :- happensAt(halt(V), T).
limit(a, 12.5).
limit(b, high).
