initiatedAt(watched(V)=true, T) :- happensAt(gap_start(V), T), flag(V, F), F = '12'.
terminatedAt(watched(V)=true, T) :- happensAt(gap_end(V), T).
flag('227574020', 7).
flag(227705102, '-3').
flag(north, 'v1').
