% The voting protocol of examples/voting with every cycle and delayed effect taken out: the status of a motion
% follows the acts alone, and what ended after a while ends by an act. For comparing costs, not outcomes.

event propose(agent: symbol, motion: symbol).
event second(agent: symbol, motion: symbol).
event vote(agent: symbol, motion: symbol, choice: symbol).
event close_ballot(agent: symbol, motion: symbol).
event declare(agent: symbol, motion: symbol, result: symbol).

% ------------------------------------------------------------------ the course of a motion

initially(status(M)=null) :-
    agenda(M, _).

initiatedAt(status(M)=proposed, T) :-
    happensAt(propose(P, M), T),
    entitled(P, proposer, M).

initiatedAt(status(M)=voting, T) :-
    happensAt(second(S, M), T),
    entitled(S, seconder, M).

initiatedAt(status(M)=voted, T) :-
    happensAt(close_ballot(C, M), T),
    entitled(C, chair, M).

initiatedAt(status(M)=null, T) :-
    happensAt(declare(C, M, _), T),
    entitled(C, chair, M).

% Who moved the motion on the table.
initiatedAt(moved(P, M)=true, T) :-
    happensAt(propose(P, M), T),
    entitled(P, proposer, M),
    holdsAt(status(M)=null, T).

terminatedAt(moved(P, M)=true, T) :-
    happensAt(start(status(M)=null), T),
    entitled(P, proposer, M).

% ------------------------------------------------------------------ the ballot
% open -> closable with the first aye -> overdue when somebody seconds once more.

initiatedAt(ballot(M)=open, T) :-
    happensAt(start(status(M)=voting), T).

terminatedAt(ballot(M)=_, T) :-
    happensAt(end(status(M)=voting), T).

initiatedAt(ballot(M)=closable, T) :-
    happensAt(vote(V, M, aye), T),
    entitled(V, voter, M),
    holdsAt(status(M)=voting, T).

initiatedAt(ballot(M)=overdue, T) :-
    happensAt(second(S, M), T),
    entitled(S, seconder, M),
    holdsAt(status(M)=voting, T).

% The last vote counts.
initiatedAt(voted(V, M)=Choice, T) :-
    happensAt(vote(V, M, Choice), T),
    entitled(V, voter, M),
    holdsAt(status(M)=voting, T).

terminatedAt(voted(V, M)=_, T) :-
    happensAt(start(status(M)=null), T),
    entitled(V, voter, M).

% The tally is taken when the ballot closes.
initiatedAt(tally(M)=carried, T) :-
    happensAt(start(status(M)=voted), T),
    findall(A, holdsAt(voted(A, M)=aye, T), InFavour),
    findall(N, holdsAt(voted(N, M)=nay, T), Against),
    length(InFavour, Ayes),
    length(Against, Nays),
    Ayes > Nays.

initiatedAt(tally(M)=not_carried, T) :-
    happensAt(start(status(M)=voted), T),
    findall(A, holdsAt(voted(A, M)=aye, T), InFavour),
    findall(N, holdsAt(voted(N, M)=nay, T), Against),
    length(InFavour, Ayes),
    length(Against, Nays),
    Ayes =< Nays.

terminatedAt(tally(M)=_, T) :-
    happensAt(end(status(M)=voted), T).

% The declared outcome stands until the motion is proposed again.
initiatedAt(outcome(M)=Result, T) :-
    happensAt(declare(C, M, Result), T),
    entitled(C, chair, M),
    holdsAt(status(M)=voted, T).

terminatedAt(outcome(M)=_, T) :-
    happensAt(start(status(M)=proposed), T).

% ------------------------------------------------------------------ powers: which acts count

holdsFor(pow(propose(P, M))=true, I) :-
    entitled(P, proposer, M),
    holdsFor(status(M)=null, I1),
    holdsFor(status(M)=proposed, I2),
    union_all([I1, I2], I).

holdsFor(pow(second(S, M))=true, I) :-
    entitled(S, seconder, M),
    holdsFor(status(M)=proposed, I).

holdsFor(pow(vote(V, M))=true, I) :-
    entitled(V, voter, M),
    holdsFor(status(M)=voting, I).

holdsFor(pow(close_ballot(C, M))=true, I) :-
    entitled(C, chair, M),
    holdsFor(status(M)=voting, I).

holdsFor(pow(declare(C, M))=true, I) :-
    entitled(C, chair, M),
    holdsFor(status(M)=voted, I).

% ------------------------------------------------------------------ permissions: which acts are free of sanction

% A member whose motion lapsed may not propose before having seconded another.
initiatedAt(lapsed(P)=true, T) :-
    happensAt(end(status(M)=proposed), T),
    \+ happensAt(start(status(M)=voting), T),
    holdsAt(moved(P, M)=true, T).

terminatedAt(lapsed(P)=true, T) :-
    happensAt(second(P, _), T).

holdsFor(per(propose(P, M))=true, I) :-
    entitled(P, proposer, M),
    holdsFor(pow(propose(P, M))=true, I1),
    holdsFor(lapsed(P)=true, I2),
    relative_complement_all(I1, [I2], I).

% Nobody may second their own motion.
holdsFor(per(second(S, M))=true, I) :-
    entitled(S, seconder, M),
    holdsFor(pow(second(S, M))=true, I1),
    holdsFor(moved(S, M)=true, I2),
    relative_complement_all(I1, [I2], I).

% One vote each.
holdsFor(per(vote(V, M))=true, I) :-
    entitled(V, voter, M),
    holdsFor(pow(vote(V, M))=true, I1),
    holdsFor(voted(V, M)=aye, I2),
    holdsFor(voted(V, M)=nay, I3),
    relative_complement_all(I1, [I2, I3], I).

holdsFor(per(close_ballot(C, M))=true, I) :-
    entitled(C, chair, M),
    holdsFor(ballot(M)=closable, I1),
    holdsFor(ballot(M)=overdue, I2),
    union_all([I1, I2], I).

holdsFor(per(declare(C, M, carried))=true, I) :-
    entitled(C, chair, M),
    holdsFor(tally(M)=carried, I).

holdsFor(per(declare(C, M, not_carried))=true, I) :-
    entitled(C, chair, M),
    holdsFor(tally(M)=not_carried, I).

% ------------------------------------------------------------------ obligations: which acts are owed

holdsFor(obl(vote(V, M))=true, I) :-
    entitled(V, voter, M),
    entitled(C, chair, M),
    holdsFor(per(vote(V, M))=true, I1),
    holdsFor(per(close_ballot(C, M))=true, I2),
    intersect_all([I1, I2], I).

holdsFor(obl(close_ballot(C, M))=true, I) :-
    entitled(C, chair, M),
    holdsFor(ballot(M)=overdue, I).

holdsFor(obl(declare(C, M, carried))=true, I) :-
    entitled(C, chair, M),
    holdsFor(tally(M)=carried, I).

holdsFor(obl(declare(C, M, not_carried))=true, I) :-
    entitled(C, chair, M),
    holdsFor(tally(M)=not_carried, I).

% ------------------------------------------------------------------ sanctions: what follows from breaking the rules

% Acts with power and without permission.
initiatedAt(sanctioned(P, forbidden_proposal)=true, T) :-
    happensAt(propose(P, M), T),
    holdsAt(pow(propose(P, M))=true, T),
    \+ holdsAt(per(propose(P, M))=true, T).

initiatedAt(sanctioned(S, seconded_own_motion)=true, T) :-
    happensAt(second(S, M), T),
    holdsAt(pow(second(S, M))=true, T),
    \+ holdsAt(per(second(S, M))=true, T).

initiatedAt(sanctioned(V, voted_twice)=true, T) :-
    happensAt(vote(V, M, _), T),
    holdsAt(pow(vote(V, M))=true, T),
    \+ holdsAt(per(vote(V, M))=true, T).

initiatedAt(sanctioned(C, closed_early)=true, T) :-
    happensAt(close_ballot(C, M), T),
    holdsAt(pow(close_ballot(C, M))=true, T),
    \+ holdsAt(per(close_ballot(C, M))=true, T).

initiatedAt(sanctioned(C, declared_wrongly)=true, T) :-
    happensAt(declare(C, M, Result), T),
    holdsAt(pow(declare(C, M))=true, T),
    \+ holdsAt(per(declare(C, M, Result))=true, T).

% Obligations that were not fulfilled.
initiatedAt(sanctioned(V, did_not_vote)=true, T) :-
    happensAt(end(status(M)=voting), T),
    entitled(V, voter, M),
    holdsAt(obl(vote(V, M))=true, T),
    \+ happensAt(vote(V, M, _), T).

initiatedAt(sanctioned(C, did_not_close)=true, T) :-
    happensAt(end(status(M)=voting), T),
    entitled(C, chair, M),
    holdsAt(obl(close_ballot(C, M))=true, T),
    \+ happensAt(close_ballot(C, M), T).

initiatedAt(sanctioned(C, did_not_declare)=true, T) :-
    happensAt(end(status(M)=voted), T),
    entitled(C, chair, M),
    \+ happensAt(declare(C, M, _), T).

% A sanction ends with an act that the rules want.
terminatedAt(sanctioned(P, forbidden_proposal)=true, T) :-
    happensAt(second(P, _), T).

terminatedAt(sanctioned(S, seconded_own_motion)=true, T) :-
    happensAt(propose(S, _), T).

terminatedAt(sanctioned(V, voted_twice)=true, T) :-
    happensAt(second(V, _), T).

terminatedAt(sanctioned(V, did_not_vote)=true, T) :-
    happensAt(vote(V, _, _), T).

terminatedAt(sanctioned(C, closed_early)=true, T) :-
    happensAt(declare(C, _, _), T).

terminatedAt(sanctioned(C, declared_wrongly)=true, T) :-
    happensAt(close_ballot(C, _), T).

terminatedAt(sanctioned(C, did_not_close)=true, T) :-
    happensAt(declare(C, _, _), T).

terminatedAt(sanctioned(C, did_not_declare)=true, T) :-
    happensAt(close_ballot(C, _), T).
