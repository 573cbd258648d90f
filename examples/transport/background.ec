% What the transport authority fixes, in seconds.

limit(service, 1800).      % a vehicle without a stop for this long is out of service
limit(unreliable, 900).    % being off the timetable for longer than this is unreliable
