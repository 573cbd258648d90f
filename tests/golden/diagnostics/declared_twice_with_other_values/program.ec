state light(x) in {red, green}.
state light(x) in {red, amber}.
initiatedAt(light(X)=red, T) :- happensAt(stop(X), T).
initiatedAt(light(X)=green, T) :- happensAt(go(X), T).
