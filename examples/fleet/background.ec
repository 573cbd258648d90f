% What the fleet manager fixes, in km/h, seconds and parts of a tank. The vehicles are a file of facts of its
% own (see sample/vehicles.ec):
%     threshold(Vehicle, fuel, TankLitres).   threshold(Vehicle, speed, EconomicSpeed).

limit(standing, 1).       % slower is standing, in km/h
limit(idle, 300).         % an engine that runs longer than this while the vehicle stands is idling
limit(abrupt, 600).       % how long an abrupt manoeuvre counts
limit(reckless, 900).     % dangerous driving for longer than this is reckless
