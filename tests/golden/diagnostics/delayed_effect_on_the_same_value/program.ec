initiatedAt(light(X)=amber, T) :- happensAt(press(X), T).
terminatedAt(light(X)=amber, T) :- happensAt(off(X), T).
fi(light(X)=amber, light(X)=amber, 3).
