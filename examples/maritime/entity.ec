% What single vessels do, in four layers, from the critical points of their trajectories.
% Times are seconds, speeds knots, directions degrees; a heading of 511 is not available.

tick 1s.

event velocity(vessel: symbol, speed: float, course: float, heading: float).
event gap_start(vessel: symbol).
event gap_end(vessel: symbol).
event stop_start(vessel: symbol).
event stop_end(vessel: symbol).
event slow_motion_start(vessel: symbol).
event slow_motion_end(vessel: symbol).
event change_in_speed_start(vessel: symbol).
event change_in_speed_end(vessel: symbol).
event change_in_heading(vessel: symbol).
event entersArea(vessel: symbol, area: symbol).
event leavesArea(vessel: symbol, area: symbol).

% ------------------------------------------------------------------ layer 1

initiatedAt(withinArea(V, Type)=true, T) :-
    happensAt(entersArea(V, Area), T),
    areaType(Area, Type).

terminatedAt(withinArea(V, Type)=true, T) :-
    happensAt(leavesArea(V, Area), T),
    areaType(Area, Type).

% Nothing is known about a silent vessel's whereabouts, of whatever type the area is.
terminatedAt(withinArea(V, _Type)=true, T) :-
    happensAt(gap_start(V), T).

initiatedAt(lowSpeed(V)=true, T) :-
    happensAt(slow_motion_start(V), T),
    \+ happensAt(gap_start(V), T).

terminatedAt(lowSpeed(V)=true, T) :-
    happensAt(slow_motion_end(V), T).

initiatedAt(changingSpeed(V)=true, T) :-
    happensAt(change_in_speed_start(V), T),
    \+ happensAt(gap_start(V), T).

terminatedAt(changingSpeed(V)=true, T) :-
    happensAt(change_in_speed_end(V), T).

initiatedAt(underWay(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(underWayMin, Min),
    threshold(underWayMax, Max),
    Speed > Min,
    Speed < Max,
    \+ happensAt(gap_start(V), T).

terminatedAt(underWay(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(underWayMin, Min),
    Speed < Min.

terminatedAt(underWay(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(underWayMax, Max),
    Speed > Max.

initiatedAt(travelSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    serviceSpeed(V, Min, Max),
    Speed > Min,
    Speed < Max,
    \+ happensAt(gap_start(V), T).

terminatedAt(travelSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    serviceSpeed(V, Min, _),
    Speed < Min.

terminatedAt(travelSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    serviceSpeed(V, _, Max),
    Speed > Max.

initiatedAt(speedLessThanMin(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    serviceSpeed(V, Min, _),
    Speed < Min,
    \+ happensAt(gap_start(V), T).

terminatedAt(speedLessThanMin(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    serviceSpeed(V, Min, _),
    Speed >= Min.

initiatedAt(speedGreaterThanMax(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    serviceSpeed(V, _, Max),
    Speed > Max,
    \+ happensAt(gap_start(V), T).

terminatedAt(speedGreaterThanMax(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    serviceSpeed(V, _, Max),
    Speed =< Max.

initiatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(tuggingMin, Min),
    threshold(tuggingMax, Max),
    Speed > Min,
    Speed < Max,
    \+ happensAt(gap_start(V), T).

terminatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(tuggingMin, Min),
    Speed =< Min.

terminatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(tuggingMax, Max),
    Speed >= Max.

% ------------------------------------------------------------------ layer 2

initiatedAt(gap(V)=nearPorts, T) :-
    happensAt(gap_start(V), T),
    holdsAt(withinArea(V, nearPorts)=true, T).

initiatedAt(gap(V)=farFromPorts, T) :-
    happensAt(gap_start(V), T),
    \+ holdsAt(withinArea(V, nearPorts)=true, T).

terminatedAt(gap(V)=_, T) :-
    happensAt(gap_end(V), T).

initiatedAt(stopped(V)=nearPorts, T) :-
    happensAt(stop_start(V), T),
    \+ happensAt(gap_start(V), T),
    holdsAt(withinArea(V, nearPorts)=true, T).

initiatedAt(stopped(V)=farFromPorts, T) :-
    happensAt(stop_start(V), T),
    \+ happensAt(gap_start(V), T),
    \+ holdsAt(withinArea(V, nearPorts)=true, T).

terminatedAt(stopped(V)=_, T) :-
    happensAt(stop_end(V), T).

initiatedAt(adrift(V)=true, T) :-
    happensAt(velocity(V, _, Course, Heading), T),
    Heading =\= 511,
    angle(Course, Heading, Difference),
    threshold(adriftAngle, Max),
    Difference > Max,
    holdsAt(underWay(V)=true, T),
    \+ happensAt(gap_start(V), T).

terminatedAt(adrift(V)=true, T) :-
    happensAt(velocity(V, _, Course, Heading), T),
    Heading =\= 511,
    angle(Course, Heading, Difference),
    threshold(adriftAngle, Max),
    Difference =< Max.

terminatedAt(adrift(V)=true, T) :-
    happensAt(end(underWay(V)=true), T).

initiatedAt(beforeAground(V)=near, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(agroundSpeed, Max),
    Speed < Max,
    holdsAt(withinArea(V, nearPorts)=true, T),
    \+ happensAt(gap_start(V), T).

initiatedAt(beforeAground(V)=far, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(agroundSpeed, Max),
    Speed < Max,
    \+ holdsAt(withinArea(V, nearPorts)=true, T),
    \+ happensAt(gap_start(V), T).

terminatedAt(beforeAground(V)=_, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(agroundSpeed, Max),
    Speed > Max.

initiatedAt(anchored(V)=near, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(anchoredSpeed, Max),
    Speed < Max,
    holdsAt(withinArea(V, nearPorts)=true, T),
    \+ happensAt(gap_start(V), T).

initiatedAt(anchored(V)=far, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(anchoredSpeed, Max),
    Speed < Max,
    \+ holdsAt(withinArea(V, nearPorts)=true, T),
    \+ happensAt(gap_start(V), T).

terminatedAt(anchored(V)=_, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(anchoredSpeed, Max),
    Speed > Max.

terminatedAt(anchored(V)=near, T) :-
    happensAt(end(withinArea(V, nearPorts)=true), T).

terminatedAt(anchored(V)=far, T) :-
    happensAt(start(withinArea(V, nearPorts)=true), T).

initiatedAt(trawlSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    vesselType(V, fishing),
    threshold(trawlSpeedMin, Min),
    threshold(trawlSpeedMax, Max),
    Speed > Min,
    Speed < Max,
    \+ holdsAt(withinArea(V, nearPorts)=true, T),
    \+ happensAt(gap_start(V), T).

terminatedAt(trawlSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(trawlSpeedMin, Min),
    Speed < Min.

terminatedAt(trawlSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(trawlSpeedMax, Max),
    Speed > Max.

terminatedAt(trawlSpeed(V)=true, T) :-
    happensAt(start(withinArea(V, nearPorts)=true), T).

initiatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(coastSpeedMax, Max),
    Speed > Max,
    holdsAt(withinArea(V, nearCoast)=true, T),
    \+ happensAt(gap_start(V), T).

terminatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(coastSpeedMax, Max),
    Speed =< Max.

terminatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(end(withinArea(V, nearCoast)=true), T).

holdsFor(unusualSpeed(V)=true, I) :-
    holdsFor(underWay(V)=true, I1),
    holdsFor(lowSpeed(V)=true, I2),
    union_all([I1, I2], Moving),
    holdsFor(travelSpeed(V)=true, I3),
    relative_complement_all(Moving, [I3], I).

% ------------------------------------------------------------------ layer 3

holdsFor(slow(V)=true, I) :-
    holdsFor(lowSpeed(V)=true, I1),
    holdsFor(stopped(V)=farFromPorts, I2),
    union_all([I1, I2], I).

holdsFor(aground(V)=near, I) :-
    holdsFor(beforeAground(V)=near, I1),
    seconds(aground, D),
    intDurGreater(I1, D, I).

holdsFor(trawling(V)=true, I) :-
    holdsFor(trawlSpeed(V)=true, I1),
    holdsFor(withinArea(V, fishing)=true, I2),
    intersect_all([I1, I2], I3),
    seconds(trawling, D),
    intDurGreater(I3, D, I).

holdsFor(drifting(V)=true, I) :-
    holdsFor(adrift(V)=true, I1),
    holdsFor(withinArea(V, nearPorts)=true, I2),
    relative_complement_all(I1, [I2], I3),
    seconds(drifting, D),
    intDurGreater(I3, D, I).

% ------------------------------------------------------------------ layer 4

holdsFor(atAnchor(V)=near, I) :-
    holdsFor(anchored(V)=near, I1),
    holdsFor(aground(V)=near, I2),
    relative_complement_all(I1, [I2], I3),
    seconds(atAnchor, D),
    intDurGreater(I3, D, I).

holdsFor(loitering(V)=true, I) :-
    holdsFor(slow(V)=true, I1),
    holdsFor(withinArea(V, nearCoast)=true, I2),
    holdsFor(withinArea(V, nearPorts)=true, I3),
    relative_complement_all(I1, [I2, I3], I4),
    seconds(loitering, D),
    intDurGreater(I4, D, I).
