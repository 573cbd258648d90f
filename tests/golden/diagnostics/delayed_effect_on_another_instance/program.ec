initiatedAt(light(X)=amber, T) :- happensAt(press(X), T).
fi(light(X)=amber, light(Y)=red, 3) :- next_to(X, Y).
next_to(a, b).
