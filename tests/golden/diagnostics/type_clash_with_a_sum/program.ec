fluent level(x).
initiatedAt(busy=true, T) :- happensAt(tick, T), findall(V, holdsAt(level(_)=V, T), L), sumlist(L, N), N > 2.
terminatedAt(busy=true, T) :- happensAt(tock, T), holdsAt(level(_)=true, T).
