tick 1m.
query late(X, T).
late(X, T) :- due(X, 2026-03-02), paid(X, T), T mod 1440 > 2026-03-02 mod 1440.
