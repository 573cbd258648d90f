initiatedAt(session(U)=active, T) :- happensAt(click(U), T).
fi(session(U)=active, session(U)=expired, 5m).
