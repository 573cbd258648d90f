initiatedAt(light(X)=green, T) :- happensAt(go(X), T).
initiatedAt(light(X)=red, T) :- happensAt(halt(X), T).
initiatedAt(walk(X)=true, T) :- happensAt(press(X), T), holdsAt(light(X)=gren, T).
terminatedAt(walk(X)=true, T) :- happensAt(press(X), T), holdsAt(light(X)=dark, T).
