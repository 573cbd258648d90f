% Human activity recognition: what people do together, from what each of them is seen doing in the frames of
% a surveillance video. Times are milliseconds, frames are 40 ms apart (--tick 40).
%
% Who is seen is a file of facts (see sample/scene.ec):  person(P).  object(O).

event appear(who: symbol).
event disappear(who: symbol).

% Seen frame by frame: points that are joined into intervals.
points(walking(_)=true).
points(active(_)=true).
points(inactive(_)=true).
points(running(_)=true).
points(abrupt(_)=true).
points(near(_, _)=true).
points(touching(_, _)=true).

% ------------------------------------------------------------------ two people

% On the spot: gesturing or still.
holdsFor(onTheSpot(P)=true, I) :-
    holdsFor(active(P)=true, I1),
    holdsFor(inactive(P)=true, I2),
    union_all([I1, I2], I).

holdsFor(fighting(P, Q)=true, I) :-
    holdsFor(touching(P, Q)=true, Touching),
    person(P),
    person(Q),
    holdsFor(abrupt(P)=true, I1),
    holdsFor(abrupt(Q)=true, I2),
    union_all([I1, I2], Abrupt),
    intersect_all([Touching, Abrupt], Struggle),
    holdsFor(inactive(P)=true, I3),
    holdsFor(inactive(Q)=true, I4),
    relative_complement_all(Struggle, [I3, I4], I).

holdsFor(meeting(P, Q)=true, I) :-
    holdsFor(near(P, Q)=true, Near),
    person(P),
    person(Q),
    holdsFor(onTheSpot(P)=true, I1),
    holdsFor(onTheSpot(Q)=true, I2),
    intersect_all([Near, I1, I2], Together),
    holdsFor(fighting(P, Q)=true, I3),
    relative_complement_all(Together, [I3], I4),
    intDurGreater(I4, 1000, I).

holdsFor(moving(P, Q)=true, I) :-
    holdsFor(near(P, Q)=true, Near),
    person(P),
    person(Q),
    holdsFor(walking(P)=true, I1),
    holdsFor(walking(Q)=true, I2),
    intersect_all([Near, I1, I2], I3),
    intDurGreater(I3, 1000, I).

% Running within three seconds of the end of a fight is running away from it.
initiatedAt(afterFight(P)=true, T) :-
    happensAt(end(fighting(P, _)=true), T).

initiatedAt(afterFight(Q)=true, T) :-
    happensAt(end(fighting(_, Q)=true), T).

ft(afterFight(_)=true, 3000).

holdsFor(fleeing(P)=true, I) :-
    holdsFor(running(P)=true, I1),
    holdsFor(afterFight(P)=true, I2),
    intersect_all([I1, I2], I).

% ------------------------------------------------------------------ a person and an object

% An object that turns up beside a person was left by that person.
initiatedAt(leaving_object(P, O)=true, T) :-
    happensAt(appear(O), T),
    object(O),
    holdsAt(near(P, O)=true, T),
    person(P).

terminatedAt(leaving_object(_P, O)=true, T) :-
    happensAt(disappear(O), T).

% With its owner gone the object is alone; after ten seconds it counts as abandoned.
initiatedAt(attendance(O)=watched, T) :-
    happensAt(start(leaving_object(_, O)=true), T).

initiatedAt(attendance(O)=alone, T) :-
    happensAt(end(near(P, O)=true), T),
    holdsAt(leaving_object(P, O)=true, T).

initiatedAt(attendance(O)=watched, T) :-
    happensAt(start(near(P, O)=true), T),
    holdsAt(leaving_object(P, O)=true, T).

terminatedAt(attendance(O)=_, T) :-
    happensAt(disappear(O), T).

fi(attendance(O)=alone, attendance(O)=abandoned, 10000).
