initiatedAt(la(X)=V, T) :- happensAt(go(X,V), T).
initiatedAt(qa(X)=on, T) :- happensAt(e(X), T), holdsAt(la(X)=gym, T).
initiatedAt(lb(X)=V, T) :- happensAt(go(X,V), T).
terminatedAt(lb(X)=gym, T) :- happensAt(e(X), T).
initiatedAt(lc(X)=V, T) :- happensAt(go(X,V), T).
fi(lc(X)=gym, lc(X)=pub, 50).
initiatedAt(ld(X)=V, T) :- happensAt(go(X,V), T).
fi(ld(X)=pub, ld(X)=gym, 50).
initiatedAt(le(X)=V, T) :- happensAt(go(X,V), T).
initially(le(_)=gym).
initiatedAt(lf(X)=V, T) :- happensAt(go(X,V), T).
initiatedAt(lf(X)=gym, T) :- happensAt(e(X), T).
initiatedAt(lg(X)=V, T) :- happensAt(go(X,V), T).
grounding(e(X)) :- dom(X).
grounding(go(X,_)) :- dom(X).
grounding(la(X)=pub) :- dom(X).
grounding(lb(X)=pub) :- dom(X).
grounding(lc(X)=pub) :- dom(X).
grounding(ld(X)=pub) :- dom(X).
grounding(le(X)=pub) :- dom(X).
grounding(lf(X)=pub) :- dom(X).
grounding(lg(X)=pub) :- dom(X).
grounding(qa(X)=on) :- dom(X).
