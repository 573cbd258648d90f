initiatedAt(gap(V)=near, T) :- happensAt(gap_start(V), T), holdsAt(within(V, ports)==true, T).
initiatedAt(within(V, A)=true, T) :- happensAt(enters(V, A), T).
terminatedAt(within(V, A)=true, T) :- happensAt(leaves(V, A), T).
terminatedAt(gap(V)=_, T) :- happensAt(gap_end(V), T).
