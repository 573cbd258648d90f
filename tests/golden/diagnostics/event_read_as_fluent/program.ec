happensAt(alarm(V), T) :- happensAt(smoke(V), T).
initiatedAt(safe(V)=true, T) :- happensAt(clear(V), T), \+ holdsAt(alarm(V)=true, T).
terminatedAt(safe(V)=true, T) :- happensAt(alarm(V), T).
