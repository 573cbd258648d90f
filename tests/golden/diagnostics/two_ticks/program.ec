tick 1s.
tick 1m.
initiatedAt(light(X)=red, T) :- happensAt(stop(X), T).
ft(light(X)=red, 10m).
