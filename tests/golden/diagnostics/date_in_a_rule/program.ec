initiatedAt(open(D)=true, T) :- happensAt(opened(D), T), T >= 2026-03-02, T < 2026-04-01 + 3600.
terminatedAt(open(D)=true, T) :- happensAt(closed(D), T).
terminatedAt(open(D)=true, T) :- happensAt(checked(D, N), T), N > 2026-13-02, N < 2026 - 03 - 02.
