initiatedAt(light(X)=amber, T) :- happensAt(press(X), T).
initiatedAt(barrier(X)=open, T) :- happensAt(lift(X), T).
fi(light(X)=amber, barrier(X)=closed, 3).
