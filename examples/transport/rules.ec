% City transport: punctuality, driving style and quality, comfort and satisfaction, from what buses and trams
% report. Times are seconds.

tick 1s.

event stop_enter(vehicle: symbol, stop: symbol, timing: symbol).
event stop_leave(vehicle: symbol, stop: symbol, timing: symbol).
event acceleration_start(vehicle: symbol, degree: symbol).
event acceleration_end(vehicle: symbol, degree: symbol).
event deceleration_start(vehicle: symbol, degree: symbol).
event deceleration_end(vehicle: symbol, degree: symbol).
event turn_start(vehicle: symbol, degree: symbol).
event turn_end(vehicle: symbol, degree: symbol).
event temperature_change(vehicle: symbol, level: symbol).
event noise_change(vehicle: symbol, level: symbol).
event density_change(vehicle: symbol, level: symbol).

% ------------------------------------------------------------------ timetable

initiatedAt(punctuality(V)=punctual, T) :-
    happensAt(stop_enter(V, _, early), T).

initiatedAt(punctuality(V)=punctual, T) :-
    happensAt(stop_enter(V, _, scheduled), T).

initiatedAt(punctuality(V)=unpunctual, T) :-
    happensAt(stop_enter(V, _, late), T).

% Leaving before the time leaves passengers behind.
initiatedAt(punctuality(V)=unpunctual, T) :-
    happensAt(stop_leave(V, _, early), T).

holdsFor(unreliable(V)=true, I) :-
    holdsFor(punctuality(V)=unpunctual, I1),
    limit(unreliable, D),
    intDurGreater(I1, D, I).

% In service as long as stops follow each other.
initiatedAt(inService(V)=yes, T) :-
    happensAt(stop_enter(V, _, _), T).

fi(inService(V)=yes, inService(V)=no, D) :- limit(service, D).
p(inService(_)=yes).

initiatedAt(atStop(V)=Stop, T) :-
    happensAt(stop_enter(V, Stop, _), T).

terminatedAt(atStop(V)=Stop, T) :-
    happensAt(stop_leave(V, Stop, _), T).

% ------------------------------------------------------------------ driving style

initiatedAt(acceleration(V)=Degree, T) :-
    happensAt(acceleration_start(V, Degree), T).
terminatedAt(acceleration(V)=Degree, T) :-
    happensAt(acceleration_end(V, Degree), T).

initiatedAt(deceleration(V)=Degree, T) :-
    happensAt(deceleration_start(V, Degree), T).
terminatedAt(deceleration(V)=Degree, T) :-
    happensAt(deceleration_end(V, Degree), T).

initiatedAt(turn(V)=Degree, T) :-
    happensAt(turn_start(V, Degree), T).
terminatedAt(turn(V)=Degree, T) :-
    happensAt(turn_end(V, Degree), T).

holdsFor(dangerous(V)=true, I) :-
    holdsFor(acceleration(V)=very_abrupt, I1),
    holdsFor(deceleration(V)=very_abrupt, I2),
    holdsFor(turn(V)=very_sharp, I3),
    union_all([I1, I2, I3], I).

holdsFor(drivingStyle(V)=unsafe, I) :-
    holdsFor(dangerous(V)=true, I).

holdsFor(drivingStyle(V)=uncomfortable, I) :-
    holdsFor(acceleration(V)=abrupt, I1),
    holdsFor(deceleration(V)=abrupt, I2),
    holdsFor(turn(V)=sharp, I3),
    union_all([I1, I2, I3], Rough),
    holdsFor(dangerous(V)=true, Dangerous),
    relative_complement_all(Rough, [Dangerous], I).

% ------------------------------------------------------------------ driving quality

holdsFor(drivingQuality(V)=high, I) :-
    holdsFor(punctuality(V)=punctual, Punctual),
    holdsFor(drivingStyle(V)=unsafe, I1),
    holdsFor(drivingStyle(V)=uncomfortable, I2),
    relative_complement_all(Punctual, [I1, I2], I).

holdsFor(drivingQuality(V)=medium, I) :-
    holdsFor(punctuality(V)=punctual, I1),
    holdsFor(drivingStyle(V)=uncomfortable, I2),
    intersect_all([I1, I2], I).

holdsFor(drivingQuality(V)=low, I) :-
    holdsFor(punctuality(V)=unpunctual, I1),
    holdsFor(drivingStyle(V)=unsafe, I2),
    union_all([I1, I2], I).

% ------------------------------------------------------------------ comfort and satisfaction

initiatedAt(temperature(V)=Level, T) :-
    happensAt(temperature_change(V, Level), T).

initiatedAt(noise(V)=Level, T) :-
    happensAt(noise_change(V, Level), T).

initiatedAt(density(V)=Level, T) :-
    happensAt(density_change(V, Level), T).

holdsFor(badAir(V)=true, I) :-
    holdsFor(temperature(V)=hot, I1),
    holdsFor(temperature(V)=cold, I2),
    holdsFor(noise(V)=high, I3),
    union_all([I1, I2, I3], I).

holdsFor(passengerComfort(V)=reducing, I) :-
    holdsFor(drivingStyle(V)=uncomfortable, I1),
    holdsFor(drivingStyle(V)=unsafe, I2),
    holdsFor(density(V)=high, I3),
    holdsFor(badAir(V)=true, I4),
    union_all([I1, I2, I3, I4], I).

holdsFor(driverComfort(V)=reducing, I) :-
    holdsFor(drivingStyle(V)=unsafe, I1),
    holdsFor(badAir(V)=true, I2),
    union_all([I1, I2], I).

holdsFor(passengerSatisfaction(V)=reducing, I) :-
    holdsFor(drivingQuality(V)=low, I1),
    holdsFor(passengerComfort(V)=reducing, I2),
    union_all([I1, I2], I).
