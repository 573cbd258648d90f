initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminateAt(on(X)=true, T) :- happensAt(release(X), T).
initialy(on(hall)=true).
