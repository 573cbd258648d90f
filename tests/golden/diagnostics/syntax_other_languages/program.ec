# a comment of another language
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T) and holdsAt(ready(X)=true, T).
evnt press(lamp).
// and of another
