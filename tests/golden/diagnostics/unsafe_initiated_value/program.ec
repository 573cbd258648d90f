initiatedAt(place(P)=Where, T) :- happensAt(move(P), T).
terminatedAt(place(P)=_, T) :- happensAt(vanish(P), T).
