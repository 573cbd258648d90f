initiatedAt(near(V)=true, T) :- happensAt(enters(V, A), T), areaTyp(A, port).
terminatedAt(near(V)=true, T) :- happensAt(leaves(V, A), T), areaType(A, port).
areaType(a1, port).
