---------------------------- MODULE Grid ----------------------------
\* families/grid.mch: N axes, values 0..M.
EXTENDS Naturals
CONSTANTS N, M
VARIABLE at
Axis == 1..N
Init == at = [a \in Axis |-> 0]
Up(a) == at[a] < M /\ at' = [at EXCEPT ![a] = @ + 1]
Rest == (\A a \in Axis : at[a] = M) /\ UNCHANGED at
Next == (\E a \in Axis : Up(a)) \/ Rest
Inv == at \in [Axis -> 0..M]
=====================================================================
