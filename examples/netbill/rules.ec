% NetBill: trading in digital goods. Quotes bind, accepted quotes are contracts, contracts oblige, and those
% who do not fulfil them are warned and then suspended, which keeps them out of new contracts.

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

ft(requested(C, M, G)=true, D) :- terms(request, D).
p(requested(_, _, _)=true).

% A quote binds for a while; another one for the same goods renews it.
initiatedAt(quote(M, C, G)=true, T) :-
    happensAt(present_quote(M, C, G, _), T),
    merchant(M),
    consumer(C).

terminatedAt(quote(M, C, G)=true, T) :-
    happensAt(accept_quote(C, M, G), T).

ft(quote(M, C, G)=true, D) :- terms(quote, D).
p(quote(_, _, _)=true).

% ------------------------------------------------------------------ contracts
% agreed -> delivered -> settled, or agreed -> undelivered, or delivered -> unpaid.
% Whether a quote can be accepted depends on the standing of both, and the standing on other contracts: a cycle.

initiatedAt(contract(M, C, G)=agreed, T) :-
    happensAt(accept_quote(C, M, G), T),
    holdsAt(quote(M, C, G)=true, T),
    \+ holdsAt(standing(M)=suspended, T),
    \+ holdsAt(standing(C)=suspended, T),
    \+ holdsAt(contract(M, C, G)=agreed, T),
    \+ holdsAt(contract(M, C, G)=delivered, T).

initiatedAt(contract(M, C, G)=delivered, T) :-
    happensAt(send_goods(M, C, G), T),
    holdsAt(contract(M, C, G)=agreed, T).

initiatedAt(contract(M, C, G)=settled, T) :-
    happensAt(send_payment(C, M, G), T),
    holdsAt(contract(M, C, G)=delivered, T).

fi(contract(M, C, G)=agreed, contract(M, C, G)=undelivered, D) :- terms(delivery, D).
fi(contract(M, C, G)=delivered, contract(M, C, G)=unpaid, D) :- terms(payment, D).
ft(contract(M, C, G)=settled, D) :- terms(record, D).
ft(contract(M, C, G)=undelivered, D) :- terms(record, D).
ft(contract(M, C, G)=unpaid, D) :- terms(record, D).

% The price last quoted stands while the quote binds and as long as the contract over it runs.
initiatedAt(price(M, C, G)=Price, T) :-
    happensAt(present_quote(M, C, G, Price), T),
    merchant(M),
    consumer(C).

terminatedAt(price(M, C, G)=_, T) :-
    happensAt(end(quote(M, C, G)=true), T),
    \+ happensAt(start(contract(M, C, G)=agreed), T).

terminatedAt(price(M, C, G)=_, T) :-
    happensAt(start(contract(M, C, G)=undelivered), T).

terminatedAt(price(M, C, G)=_, T) :-
    happensAt(end(contract(M, C, G)=delivered), T).

% ------------------------------------------------------------------ standing
% The first broken contract brings a warning, the next one a suspension.

initially(standing(A)=good) :-
    trader(A).

initiatedAt(standing(M)=warned, T) :-
    happensAt(start(contract(M, _, _)=undelivered), T),
    holdsAt(standing(M)=good, T).

initiatedAt(standing(M)=suspended, T) :-
    happensAt(start(contract(M, _, _)=undelivered), T),
    \+ holdsAt(standing(M)=good, T).

initiatedAt(standing(C)=warned, T) :-
    happensAt(start(contract(_, C, _)=unpaid), T),
    holdsAt(standing(C)=good, T).

initiatedAt(standing(C)=suspended, T) :-
    happensAt(start(contract(_, C, _)=unpaid), T),
    \+ holdsAt(standing(C)=good, T).

% Time heals; a contract broken while suspended starts the suspension anew.
fi(standing(A)=suspended, standing(A)=warned, D) :- terms(suspension, D).
fi(standing(A)=warned, standing(A)=good, D) :- terms(probation, D).
p(standing(_)=suspended).

% ------------------------------------------------------------------ powers, permissions, obligations

% A quote can be accepted while it binds, both are in the market and no contract over the goods is running.
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
% Those who trade while they are suspended pay for it: their acts are void, and each one costs.

initiatedAt(fined(M, quoting)=true, T) :-
    happensAt(present_quote(M, _, _, _), T),
    holdsAt(standing(M)=suspended, T).

initiatedAt(fined(C, accepting)=true, T) :-
    happensAt(accept_quote(C, _, _), T),
    holdsAt(standing(C)=suspended, T).

ft(fined(A, Act)=true, D) :- terms(fine, D).
p(fined(_, _)=true).
