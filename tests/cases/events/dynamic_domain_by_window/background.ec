motion(m1).
motion(m2).
