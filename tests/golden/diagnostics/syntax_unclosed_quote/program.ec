area(a1, 'North Sea).
area(a2, baltic).
