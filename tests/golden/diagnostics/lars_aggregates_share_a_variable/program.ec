mean(M, A) if S = sum(D) over [2] temp(M, D), C = count(D) over [2] temp(M, D), A = S / C.
