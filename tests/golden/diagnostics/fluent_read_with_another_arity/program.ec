initiatedAt(within(V, A)=true, T) :- happensAt(enters(V, A), T).
terminatedAt(within(V, A)=true, T) :- happensAt(leaves(V, A), T).
initiatedAt(stopped(V)=true, T) :- happensAt(stop_start(V), T), holdsAt(within(V)=true, T).
terminatedAt(stopped(V)=true, T) :- happensAt(stop_end(V), T).
