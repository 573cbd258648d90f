initiatedAt(withinArea(V)=true, T) :- happensAt(enters(V), T).
terminatedAt(withinArea(V)=true, T) :- happensAt(leaves(V), T).
initiatedAt(stopped(V)=true, T) :- happensAt(stop_start(V), T), holdsAt(withinarea(V)=true, T).
terminatedAt(stopped(V)=true, T) :- happensAt(stop_end(V), T).
