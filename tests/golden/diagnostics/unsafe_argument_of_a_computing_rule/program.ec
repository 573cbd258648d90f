initiatedAt(adrift(V)=true, T) :- happensAt(velocity(V, C), T), angle(C, H, D), D > 15.
terminatedAt(adrift(V)=true, T) :- happensAt(halt(V), T).
angle(A, B, D) :- D is abs(A - B).
