state light(junction) in {red, amber, green}.
initiatedAt(light(J)=red, T) :- happensAt(stop(J), T).
initiatedAt(light(J)=gren, T) :- happensAt(go(J), T).
initiatedAt(light(J)=amber, T) :- happensAt(wait(J), T), holdsAt(light(J)=blue, T).
