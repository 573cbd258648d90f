event walk(person: symbol).
fluent walk(person: symbol).
initiatedAt(active(P)=true, T) :- happensAt(walk(P), T).
terminatedAt(active(P)=true, T) :- happensAt(end(walk(P)=true), T).
