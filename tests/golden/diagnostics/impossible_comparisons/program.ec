initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S > 50, S < 10.
terminatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S =< 50, 3 > 5.
initiatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S < S.
terminatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S >= 5.
