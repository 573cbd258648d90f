happensAt(ping(X), T) :- happensAt(ping(X), T), happensAt(pong(X), T).
