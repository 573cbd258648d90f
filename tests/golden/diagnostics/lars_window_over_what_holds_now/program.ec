program lars.
busy if signal(X), X > 3.
steady if [2] always busy.
lately if [2] sometime busy.
soon if [+2] sometime due, not [2] always busy.
at(T+2) due if [2] at(T) signal(X), X > 3.
now if [0] always busy.
last if [2 #] sometime busy.
