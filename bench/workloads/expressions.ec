% Interval expressions and nothing else: what vessels are up to, from intervals that arrive as such.
% Times are seconds.

fluent stopped(vessel: symbol).
fluent lowSpeed(vessel: symbol).
fluent gap(vessel: symbol).
fluent turning(vessel: symbol).
fluent nearPort(vessel: symbol).
fluent fishingArea(vessel: symbol).
fluent near(one: symbol, other: symbol).

holdsFor(atSea(V)=true, I) :-
    holdsFor(nearPort(V)=true, I1),
    complement_all([I1], I).

holdsFor(slow(V)=true, I) :-
    holdsFor(stopped(V)=true, I1),
    holdsFor(lowSpeed(V)=true, I2),
    union_all([I1, I2], I).

holdsFor(loitering(V)=true, I) :-
    holdsFor(slow(V)=true, I1),
    holdsFor(nearPort(V)=true, I2),
    holdsFor(gap(V)=true, I3),
    relative_complement_all(I1, [I2, I3], I4),
    intDurGreater(I4, 1200, I).

holdsFor(trawling(V)=true, I) :-
    holdsFor(turning(V)=true, I1),
    holdsFor(fishingArea(V)=true, I2),
    holdsFor(lowSpeed(V)=true, I3),
    intersect_all([I1, I2, I3], I).

holdsFor(anchored(V)=true, I) :-
    holdsFor(stopped(V)=true, I1),
    holdsFor(nearPort(V)=true, I2),
    intersect_all([I1, I2], I).

holdsFor(rendezVous(V, W)=true, I) :-
    holdsFor(near(V, W)=true, I1),
    holdsFor(slow(V)=true, I2),
    holdsFor(slow(W)=true, I3),
    intersect_all([I1, I2, I3], I4),
    holdsFor(nearPort(V)=true, I5),
    holdsFor(nearPort(W)=true, I6),
    relative_complement_all(I4, [I5, I6], I).
