happensAt(alarm(X), T) :- holdsAt(hot(X)=true, T).
initiatedAt(hot(X)=true, T) :- happensAt(heat(X), T).
terminatedAt(hot(X)=true, T) :- happensAt(cool(X), T).
