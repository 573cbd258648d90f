% Service speeds of types of vessels (knots: minimum, maximum, average), thresholds (knots and degrees), durations
% and what follows from them. Vessels and areas are a file of facts of its own (see sample/register.ec):
%     vesselType(Vessel, Type).   areaType(Area, Type).

typeSpeed(cargo, 9, 15, 12.8).
typeSpeed(tanker, 8, 14, 11.5).
typeSpeed(passenger, 10, 25, 18).
typeSpeed(fishing, 6, 12, 9).
typeSpeed(pleasure, 4, 12, 8).
typeSpeed(tug, 5, 12, 9).
typeSpeed(pilot, 7, 22, 15).
typeSpeed(sar, 7, 28, 18).

serviceSpeed(Vessel, Min, Max) :-
    vesselType(Vessel, Type),
    typeSpeed(Type, Min, Max, _).

threshold(underWayMin, 2.7).
threshold(underWayMax, 48.6).
threshold(adriftAngle, 15).
threshold(agroundSpeed, 0.005).
threshold(anchoredSpeed, 0.2).
threshold(trawlSpeedMin, 1).
threshold(trawlSpeedMax, 9).
threshold(tuggingMin, 1.2).
threshold(tuggingMax, 15).
threshold(coastSpeedMax, 5).

seconds(aground, 3600).
seconds(rendezVous, 240).
seconds(trawling, 3600).
seconds(atAnchor, 1800).
seconds(drifting, 900).
seconds(loitering, 1800).
seconds(tugging, 1800).
seconds(pilot, 120).
seconds(search, 1800).
seconds(trawlTurns, 600).
seconds(searchTurns, 1800).
seconds(trip, 172800).

% The smaller angle between two directions in degrees.
angle(A, B, Difference) :-
    Difference is 180 - abs(180 - abs(A - B)).

oneIsOf(V1, V2, Type) :- vesselType(V1, Type), vesselType(V2, _).
oneIsOf(V1, V2, Type) :- vesselType(V2, Type), vesselType(V1, _).
