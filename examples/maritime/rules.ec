% Maritime situational awareness: what single vessels do (entity.ec), movements that fade unless they are
% repeated, the stages of a fishing trip, and what pairs of vessels do.

:- ['entity.ec'].

fluent proximity(one: symbol, other: symbol).

% ------------------------------------------------------------------ movements by repeated turns
% Each turn counts for a while; the next one prolongs it.

initiatedAt(trawlingMovement(V)=true, T) :-
    happensAt(change_in_heading(V), T),
    vesselType(V, fishing),
    holdsAt(withinArea(V, fishing)=true, T).

terminatedAt(trawlingMovement(V)=true, T) :-
    happensAt(end(withinArea(V, fishing)=true), T).

ft(trawlingMovement(V)=true, D) :- seconds(trawlTurns, D).
p(trawlingMovement(_)=true).

initiatedAt(searchMovement(V)=true, T) :-
    happensAt(change_in_heading(V), T),
    vesselType(V, sar),
    \+ holdsAt(withinArea(V, nearPorts)=true, T).

initiatedAt(searchMovement(V)=true, T) :-
    happensAt(change_in_speed_start(V), T),
    vesselType(V, sar),
    \+ holdsAt(withinArea(V, nearPorts)=true, T).

terminatedAt(searchMovement(V)=true, T) :-
    happensAt(gap_start(V), T).

terminatedAt(searchMovement(V)=true, T) :-
    happensAt(start(withinArea(V, nearPorts)=true), T).

ft(searchMovement(V)=true, D) :- seconds(searchTurns, D).
p(searchMovement(_)=true).

holdsFor(searchAndRescue(V)=true, I) :-
    holdsFor(searchMovement(V)=true, I1),
    holdsFor(underWay(V)=true, I2),
    intersect_all([I1, I2], I3),
    seconds(search, D),
    intDurGreater(I3, D, I).

% ------------------------------------------------------------------ the stages of a fishing trip
% ended -> approaching -> trawling -> returning -> ended; a returning boat may shoot its nets again.

initially(trip(V)=ended) :-
    vesselType(V, fishing).

initiatedAt(trip(V)=approaching, T) :-
    happensAt(start(underWay(V)=true), T),
    holdsAt(trip(V)=ended, T).

initiatedAt(trip(V)=trawling, T) :-
    happensAt(start(trawlingMovement(V)=true), T),
    holdsAt(trip(V)=approaching, T).

initiatedAt(trip(V)=trawling, T) :-
    happensAt(start(trawlingMovement(V)=true), T),
    holdsAt(trip(V)=returning, T).

initiatedAt(trip(V)=returning, T) :-
    happensAt(end(trawlingMovement(V)=true), T),
    holdsAt(underWay(V)=true, T),
    holdsAt(trip(V)=trawling, T).

initiatedAt(trip(V)=returning, T) :-
    happensAt(start(underWay(V)=true), T),
    \+ holdsAt(trawlingMovement(V)=true, T),
    holdsAt(trip(V)=trawling, T).

initiatedAt(trip(V)=ended, T) :-
    happensAt(start(stopped(V)=nearPorts), T),
    holdsAt(trip(V)=returning, T).

initiatedAt(trip(V)=ended, T) :-
    happensAt(start(anchored(V)=near), T),
    holdsAt(trip(V)=returning, T).

% Back in port without having fished.
initiatedAt(trip(V)=ended, T) :-
    happensAt(start(stopped(V)=nearPorts), T),
    holdsAt(trip(V)=approaching, T).

% A boat that is not seen to come home has come home unseen.
fi(trip(V)=returning, trip(V)=ended, D) :- seconds(trip, D).

% ------------------------------------------------------------------ pairs of vessels

holdsFor(rendezVous(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Close),
    holdsFor(slow(V1)=true, I1),
    holdsFor(slow(V2)=true, I2),
    intersect_all([Close, I1, I2], I3),
    seconds(rendezVous, D),
    intDurGreater(I3, D, I).

holdsFor(tugging(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Close),
    oneIsOf(V1, V2, tug),
    holdsFor(tuggingSpeed(V1)=true, I1),
    holdsFor(tuggingSpeed(V2)=true, I2),
    intersect_all([Close, I1, I2], I3),
    seconds(tugging, D),
    intDurGreater(I3, D, I).

holdsFor(pilotBoarding(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Close),
    oneIsOf(V1, V2, pilot),
    holdsFor(slow(V1)=true, I1),
    holdsFor(slow(V2)=true, I2),
    intersect_all([Close, I1, I2], Slow),
    holdsFor(withinArea(V1, nearPorts)=true, Port1),
    holdsFor(withinArea(V2, nearPorts)=true, Port2),
    relative_complement_all(Slow, [Port1, Port2], I3),
    seconds(pilot, D),
    intDurGreater(I3, D, I).
