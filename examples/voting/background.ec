% The standing rules of the house: who may act on which motion, and the deadlines, in time-points.
%
% The roster of a house is a file of facts of its own (see sample/roster.ec):
%     role_of(Agent, Role, Committee).     Role is chair, proposer, seconder or voter
%     agenda(Motion, Committee).

entitled(Agent, Role, Motion) :-
    agenda(Motion, Committee),
    role_of(Agent, Role, Committee).

deadline(seconding, 50).    % a proposed motion nobody seconds lapses
deadline(open, 20).         % the ballot must stay open this long
deadline(closable, 60).     % after so much more the chair is obliged to close it
deadline(voting, 100).      % the ballot closes by itself
deadline(declaring, 30).    % without a declaration the motion is off the table
deadline(lapse, 120).       % how long a lapsed motion is held against its mover
deadline(sanction, 80).     % how long a sanction lasts
