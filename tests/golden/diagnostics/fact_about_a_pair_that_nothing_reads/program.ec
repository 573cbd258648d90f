initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
fti(on(_)=true, 5).
other(lamp, 5).
