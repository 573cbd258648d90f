initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(press(X), T), holdsAt(long(X)=true, T).
holdsFor(long(X)=true, I) :- holdsFor(on(X)=true, I1), intDurGreater(I1, 10, I).
