initiatedAt(on(X)=true, T) :- happensAt(press(X), T), pressed(X, T).
pressed(X, T) :- happensAt(press(X), T), not holdsAt(broken(X)=true, T).
initiatedAt(broken(X)=true, T) :- happensAt(breaks(X), T).
terminatedAt(broken(_)=true, T) :- happensAt(repair, T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
