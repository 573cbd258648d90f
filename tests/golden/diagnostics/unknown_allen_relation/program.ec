holdsFor(both(X)=true, I) :- holdsFor(a(X)=true, I1), holdsFor(b(X)=true, I2), allen(befor, I1, I2, source, I).
