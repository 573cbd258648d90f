% Committees and their agendas. Generated with seed 3.
role_of(a0, chair, k0).
role_of(a1, proposer, k0).
role_of(a2, proposer, k0).
role_of(a3, proposer, k0).
role_of(a2, seconder, k0).
role_of(a3, seconder, k0).
role_of(a4, seconder, k0).
role_of(a1, voter, k0).
role_of(a2, voter, k0).
role_of(a3, voter, k0).
role_of(a4, voter, k0).
agenda(m0, k0).
agenda(m1, k0).
