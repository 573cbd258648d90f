initiatedAt(near(V)=true, T) :- happensAt(enters(V, A), T), harbour(A).
terminatedAt(near(V)=true, T) :- happensAt(leaves(V, A), T), areaType(A, port).
areaType(a1, port).
