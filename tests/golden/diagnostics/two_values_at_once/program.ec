initiatedAt(light(X)=green, T) :- happensAt(go(X), T).
initiatedAt(light(X)=red, T) :- happensAt(halt(X), T).
initiatedAt(odd(X)=true, T) :- happensAt(look(X), T), holdsAt(light(X)=green, T), holdsAt(light(X)=red, T).
terminatedAt(odd(X)=true, T) :- happensAt(look(X), T), holdsAt(light(X)=red, T).
