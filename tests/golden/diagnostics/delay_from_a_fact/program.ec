initiatedAt(light(X)=amber, T) :- happensAt(press(X), T).
fi(light(X)=amber, light(X)=red, D) :- pause(X, D).
pause(a, 3).
pause(b, 0).
