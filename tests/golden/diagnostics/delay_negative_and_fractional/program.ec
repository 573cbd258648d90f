initiatedAt(light(X)=amber, T) :- happensAt(press(X), T).
initiatedAt(light(X)=red, T) :- happensAt(stop(X), T).
fi(light(X)=amber, light(X)=red, -3).
ft(light(X)=red, 2.5).
