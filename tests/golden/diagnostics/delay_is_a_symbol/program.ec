initiatedAt(light(X)=amber, T) :- happensAt(press(X), T).
ft(light(X)=amber, soon).
