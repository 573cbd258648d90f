% People and objects. Generated with seed 97.
person(p0).
person(p1).
person(p2).
person(p3).
person(p4).
person(p5).
object(bag0).
object(bag1).
object(bag2).
