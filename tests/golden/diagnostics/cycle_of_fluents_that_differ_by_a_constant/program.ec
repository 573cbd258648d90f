collectIntervals(distance(_, _, _)=true).
holdsFor(close(A, B, 24)=true, I) :- holdsFor(distance(A, B, 24)=true, I).
holdsFor(close(A, B, 25)=true, I) :-
    holdsFor(close(A, B, 24)=true, I1), holdsFor(distance(A, B, 25)=true, I2), union_all([I1, I2], I).
