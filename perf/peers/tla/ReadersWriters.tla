---------------------------- MODULE ReadersWriters ----------------------------
\* families/readers_writers.mch: N processes.
EXTENDS Naturals, FiniteSets
CONSTANT N
VARIABLE mode
Proc == 1..N
Are(s) == {p \in Proc : mode[p] \in s}
Init == mode = [p \in Proc |-> "idle"]
Set(p, m) == mode' = [mode EXCEPT ![p] = m]
Next == \E p \in Proc :
          \/ mode[p] = "idle" /\ (Set(p, "wants_read") \/ Set(p, "wants_write"))
          \/ mode[p] = "wants_read" /\ Are({"writing"}) = {} /\ Set(p, "reading")
          \/ mode[p] = "wants_write" /\ Are({"reading", "writing"}) = {} /\ Set(p, "writing")
          \/ mode[p] \in {"reading", "writing"} /\ Set(p, "idle")
Inv == /\ Cardinality(Are({"writing"})) <= 1
       /\ Are({"reading"}) = {} \/ Are({"writing"}) = {}
===============================================================================
