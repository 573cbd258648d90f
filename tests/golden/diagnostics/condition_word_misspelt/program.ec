initiatedAt(on(X)=true, T) :- happensAt(press(X), T), holdAt(ready(X)=true, T).
initiatedAt(ready(X)=true, T) :- happenAt(power(X), T).
initiatedAt(busy=true, T) :- happensAt(look, T), findal(X, holdsAt(on(X)=true, T), L), length(L, N), N > 2.
holdsFor(any(X)=true, I) :- holdsFor(on(X)=true, A), holdsFor(ready(X)=true, B), union_al([A, B], I).
