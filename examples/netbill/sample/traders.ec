% Traders. Generated with seed 2.
merchant(m0).
merchant(m1).
consumer(c0).
consumer(c1).
