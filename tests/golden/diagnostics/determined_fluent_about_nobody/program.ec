initiatedAt(status(M)=open, T) :- happensAt(opens(M), T).
terminatedAt(status(M)=open, T) :- happensAt(closes(M), T).
holdsFor(pow(vote(_Member, M))=true, I) :- holdsFor(status(M)=open, I).
holdsFor(pow(close(_Chair, M))=true, I) :- holdsFor(status(M)=open, I).
grounding(pow(close(C, M))=true) :- chair(C, M).
chair(ann, m1).
