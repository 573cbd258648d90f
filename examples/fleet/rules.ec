% Fleet management: what vehicles report about speed, fuel, road and driving, and what the office should know.
% Times are seconds.

tick 1s.

event speed(vehicle: symbol, kmh: float).
event fuelLevel(vehicle: symbol, litres: float).
event closeToGas(vehicle: symbol).
event ignition(vehicle: symbol, position: symbol).
event entersRoad(vehicle: symbol, maximum: int).
event weather(vehicle: symbol, surface: symbol).
event abrupt(vehicle: symbol, manoeuvre: symbol).

% ------------------------------------------------------------------ what is the case

initiatedAt(engine(V)=Position, T) :-
    happensAt(ignition(V, Position), T).

initiatedAt(maximum(V)=Kmh, T) :-
    happensAt(entersRoad(V, Kmh), T).

initiatedAt(surface(V)=Surface, T) :-
    happensAt(weather(V, Surface), T).

initiatedAt(standing(V)=true, T) :-
    happensAt(speed(V, Kmh), T),
    limit(standing, Max),
    Kmh < Max.

terminatedAt(standing(V)=true, T) :-
    happensAt(speed(V, Kmh), T),
    limit(standing, Max),
    Kmh >= Max.

% Faster than is economic.
initiatedAt(highSpeed(V)=true, T) :-
    happensAt(speed(V, Kmh), T),
    threshold(V, speed, Economic),
    Kmh > Economic.

terminatedAt(highSpeed(V)=true, T) :-
    happensAt(speed(V, Kmh), T),
    threshold(V, speed, Economic),
    Kmh =< Economic.

initiatedAt(lowFuel(V)=true, T) :-
    happensAt(fuelLevel(V, Level), T),
    threshold(V, fuel, Tank),
    Level < Tank / 4.

terminatedAt(lowFuel(V)=true, T) :-
    happensAt(fuelLevel(V, Level), T),
    threshold(V, fuel, Tank),
    Level >= Tank / 4.

% ------------------------------------------------------------------ refuelling

initiatedAt(refuelOpportunity(V)=true, T) :-
    happensAt(closeToGas(V), T),
    holdsAt(highSpeed(V)=true, T),
    happensAt(fuelLevel(V, Level), T),
    threshold(V, fuel, Tank),
    Level < Tank / 2.

terminatedAt(refuelOpportunity(V)=true, T) :-
    happensAt(fuelLevel(V, Level), T),
    threshold(V, fuel, Tank),
    Level >= Tank / 2.

holdsFor(refuelNow(V)=true, I) :-
    holdsFor(refuelOpportunity(V)=true, I1),
    holdsFor(lowFuel(V)=true, I2),
    intersect_all([I1, I2], I).

% ------------------------------------------------------------------ driving

initiatedAt(overSpeed(V)=true, T) :-
    happensAt(speed(V, Kmh), T),
    holdsAt(maximum(V)=Max, T),
    Kmh > Max.

terminatedAt(overSpeed(V)=true, T) :-
    happensAt(speed(V, Kmh), T),
    holdsAt(maximum(V)=Max, T),
    Kmh =< Max.

terminatedAt(overSpeed(V)=true, T) :-
    happensAt(ignition(V, off), T).

% An abrupt manoeuvre above the limit, or on a slippery road. Each one counts for a while.
initiatedAt(dangerousDriving(V)=true, T) :-
    happensAt(abrupt(V, _), T),
    holdsAt(overSpeed(V)=true, T).

initiatedAt(dangerousDriving(V)=true, T) :-
    happensAt(abrupt(V, _), T),
    holdsAt(surface(V)=icy, T).

terminatedAt(dangerousDriving(V)=true, T) :-
    happensAt(ignition(V, off), T).

ft(dangerousDriving(V)=true, D) :- limit(abrupt, D).
p(dangerousDriving(_)=true).

holdsFor(recklessDriving(V)=true, I) :-
    holdsFor(dangerousDriving(V)=true, I1),
    limit(reckless, D),
    intDurGreater(I1, D, I).

% ------------------------------------------------------------------ waste and theft

holdsFor(idle(V)=true, I) :-
    holdsFor(engine(V)=on, I1),
    holdsFor(standing(V)=true, I2),
    intersect_all([I1, I2], I3),
    limit(idle, D),
    intDurGreater(I3, D, I).

holdsFor(uneconomicDriving(V)=true, I) :-
    holdsFor(highSpeed(V)=true, I1),
    holdsFor(idle(V)=true, I2),
    union_all([I1, I2], I).

% A vehicle that moves with its engine off is on somebody's lorry.
initiatedAt(towedAway(V)=true, T) :-
    happensAt(speed(V, Kmh), T),
    limit(standing, Max),
    Kmh >= Max,
    holdsAt(engine(V)=off, T).

terminatedAt(towedAway(V)=true, T) :-
    happensAt(ignition(V, on), T).

terminatedAt(towedAway(V)=true, T) :-
    happensAt(speed(V, Kmh), T),
    limit(standing, Max),
    Kmh < Max.
