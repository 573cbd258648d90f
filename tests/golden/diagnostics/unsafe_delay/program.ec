initiatedAt(light(X)=amber, T) :- happensAt(press(X), T).
initiatedAt(light(X)=red, T) :- happensAt(stop(X), T).
fi(light(X)=amber, light(X)=red, D) :- colour(X).
colour(a).
