port(A) :- area(A, harbour), big(A).
area(a1, harbour).
