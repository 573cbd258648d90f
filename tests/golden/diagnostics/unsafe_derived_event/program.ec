happensAt(meet(X, Y), T) :- happensAt(arrive(X), T).
