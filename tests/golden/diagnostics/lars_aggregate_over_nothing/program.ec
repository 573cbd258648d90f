program lars.
busy if N = count(X : p(X)), N > 2.
heavy if S = sum(V), [5] sometime weight(V), S > 20.
mild if A = avg(V) over [5] warmth(V), A < 20.
