initiatedAt(alone(X, Y)=true, T) :- happensAt(arrive(X), T), \+ holdsAt(present(Y)=true, T).
terminatedAt(alone(X, Y)=true, T) :- happensAt(meet(X, Y), T).
initiatedAt(present(X)=true, T) :- happensAt(arrive(X), T).
terminatedAt(present(X)=true, T) :- happensAt(leave(X), T).
