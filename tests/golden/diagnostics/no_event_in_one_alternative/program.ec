initiatedAt(on(X)=true, T) :- (happensAt(press(X), T) ; holdsAt(forced(X)=true, T)).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
initiatedAt(forced(X)=true, T) :- happensAt(lock(X), T).
terminatedAt(forced(X)=true, T) :- happensAt(unlock(X), T).
