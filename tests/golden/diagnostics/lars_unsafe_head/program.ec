at(T+3) exp(B) :- [3] at(T) bus, on.
on :- [1] sometime request.
