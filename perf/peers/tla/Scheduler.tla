---------------------------- MODULE Scheduler ----------------------------
\* papers/scheduler.mch: N processes. A process that is not known has the status "none".
EXTENDS Naturals, FiniteSets
CONSTANT N
VARIABLE status
Proc == 1..N
Init == status = [p \in Proc |-> "none"]
Set(p, s) == status' = [status EXCEPT ![p] = s]
Next == \E p \in Proc :
          \/ status[p] = "none" /\ Set(p, "waiting")
          \/ status[p] = "waiting" /\ (Set(p, "none") \/ Set(p, "ready"))
          \/ status[p] = "ready" /\ (\A q \in Proc : status[q] # "active") /\ Set(p, "active")
          \/ status[p] = "active" /\ Set(p, "waiting")
Inv == Cardinality({p \in Proc : status[p] = "active"}) <= 1
==========================================================================
