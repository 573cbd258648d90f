initiatedAt(quiet(X)=true, T) :- sensor(X), \+ happensAt(noise(X), T).
terminatedAt(quiet(X)=true, T) :- happensAt(noise(X), T).
sensor(a).
