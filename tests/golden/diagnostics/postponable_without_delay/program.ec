initiatedAt(light(X)=amber, T) :- happensAt(press(X), T).
fi(light(X)=amber, light(X)=red, 3).
p(light(_)=red).
