initiatedAt(near(V)=true, T) :- happensAt(enters(V, A), T), port(A).
terminatedAt(near(V)=true, T) :- happensAt(leaves(V, A), T), port(A).
