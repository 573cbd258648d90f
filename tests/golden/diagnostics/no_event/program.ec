initiatedAt(alarm(X)=true, T) :- holdsAt(hot(X)=true, T).
terminatedAt(alarm(X)=true, T) :- happensAt(reset(X), T).
initiatedAt(hot(X)=true, T) :- happensAt(heat(X), T).
terminatedAt(hot(X)=true, T) :- happensAt(cool(X), T).
