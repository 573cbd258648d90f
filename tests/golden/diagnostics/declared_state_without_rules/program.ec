state door(room) in {open, closed}.
initiatedAt(cold(R)=true, T) :- happensAt(start(door(R)=open), T).
terminatedAt(cold(R)=true, T) :- happensAt(start(door(R)=closed), T).
