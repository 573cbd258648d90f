% The terms of trade, in time-points. Who trades is a file of facts of its own (see sample/traders.ec):
%     merchant(Agent).   consumer(Agent).

trader(Agent) :- merchant(Agent).
trader(Agent) :- consumer(Agent).

terms(request, 30).       % how long a request for a quote waits
terms(quote, 20).         % how long a quote binds the merchant
terms(delivery, 15).      % goods are due this long after the quote is accepted
terms(payment, 15).       % payment is due this long after delivery
terms(record, 100).       % how long a concluded or broken contract stays on record
terms(suspension, 60).    % a suspended trader is on probation after this
terms(probation, 200).    % and in good standing again after this
terms(fine, 40).          % how long a fine stays on the books; another one prolongs it
