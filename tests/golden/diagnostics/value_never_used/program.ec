initiatedAt(light(X)=orange, T) :- happensAt(wait(X), T).
initiatedAt(light(X)=green, T) :- happensAt(go(X), T).
initiatedAt(walk(X)=true, T) :- happensAt(press(X), T), holdsAt(light(X)=green, T).
terminatedAt(walk(X)=true, T) :- happensAt(halt(X), T).
