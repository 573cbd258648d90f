% NetBill of examples/netbill with every cycle and delayed effect taken out: contracts follow the acts alone, nobody's
% standing decides about them, and what ended after a while ends by an act. For comparing costs, not outcomes.

event request_quote(consumer: symbol, merchant: symbol, goods: symbol).
event present_quote(merchant: symbol, consumer: symbol, goods: symbol, price: int).
event accept_quote(consumer: symbol, merchant: symbol, goods: symbol).
event send_goods(merchant: symbol, consumer: symbol, goods: symbol).
event send_payment(consumer: symbol, merchant: symbol, goods: symbol).

% ------------------------------------------------------------------ requests and quotes

initiatedAt(requested(C, M, G)=true, T) :-
    happensAt(request_quote(C, M, G), T),
    consumer(C),
    merchant(M).

terminatedAt(requested(C, M, G)=true, T) :-
    happensAt(present_quote(M, C, G, _), T).

initiatedAt(quote(M, C, G)=true, T) :-
    happensAt(present_quote(M, C, G, _), T),
    merchant(M),
    consumer(C).

terminatedAt(quote(M, C, G)=true, T) :-
    happensAt(accept_quote(C, M, G), T).

% ------------------------------------------------------------------ contracts

initiatedAt(contract(M, C, G)=agreed, T) :-
    happensAt(accept_quote(C, M, G), T),
    holdsAt(quote(M, C, G)=true, T).

initiatedAt(contract(M, C, G)=delivered, T) :-
    happensAt(send_goods(M, C, G), T).

initiatedAt(contract(M, C, G)=settled, T) :-
    happensAt(send_payment(C, M, G), T).

initiatedAt(price(M, C, G)=Price, T) :-
    happensAt(present_quote(M, C, G, Price), T),
    merchant(M),
    consumer(C).

terminatedAt(price(M, C, G)=_, T) :-
    happensAt(end(quote(M, C, G)=true), T),
    \+ happensAt(start(contract(M, C, G)=agreed), T).

terminatedAt(price(M, C, G)=_, T) :-
    happensAt(end(contract(M, C, G)=delivered), T).

% ------------------------------------------------------------------ standing: settling a contract is noted

initially(standing(A)=good) :-
    trader(A).

initiatedAt(standing(M)=warned, T) :-
    happensAt(start(contract(M, _, _)=delivered), T).

initiatedAt(standing(C)=good, T) :-
    happensAt(start(contract(_, C, _)=settled), T).

% ------------------------------------------------------------------ powers, permissions, obligations

holdsFor(pow(accept_quote(C, M, G))=true, I) :-
    holdsFor(quote(M, C, G)=true, I1),
    holdsFor(standing(M)=suspended, I2),
    holdsFor(standing(C)=suspended, I3),
    holdsFor(contract(M, C, G)=agreed, I4),
    holdsFor(contract(M, C, G)=delivered, I5),
    relative_complement_all(I1, [I2, I3, I4, I5], I).

holdsFor(per(present_quote(M))=true, I) :-
    merchant(M),
    holdsFor(standing(M)=good, I1),
    holdsFor(standing(M)=warned, I2),
    union_all([I1, I2], I).

holdsFor(per(accept_quote(C))=true, I) :-
    consumer(C),
    holdsFor(standing(C)=good, I1),
    holdsFor(standing(C)=warned, I2),
    union_all([I1, I2], I).

holdsFor(obl(send_goods(M, C, G))=true, I) :-
    holdsFor(contract(M, C, G)=agreed, I).

holdsFor(obl(send_payment(C, M, G))=true, I) :-
    holdsFor(contract(M, C, G)=delivered, I).

% ------------------------------------------------------------------ fines

initiatedAt(fined(M, quoting)=true, T) :-
    happensAt(present_quote(M, _, _, _), T),
    holdsAt(standing(M)=suspended, T).

initiatedAt(fined(C, accepting)=true, T) :-
    happensAt(accept_quote(C, _, _), T),
    holdsAt(standing(C)=suspended, T).
