---------------------------- MODULE TwoPhaseCommit ----------------------------
\* families/two_phase_commit.mch: N managers.
EXTENDS Naturals
CONSTANT N
VARIABLES status, told, heard, decision
Manager == 1..N
vars == <<status, told, heard, decision>>
Init == /\ status = [m \in Manager |-> "working"]
        /\ told = {} /\ heard = {} /\ decision = "open"
Set(m, s) == status' = [status EXCEPT ![m] = s]
Prepare(m) == status[m] = "working" /\ Set(m, "prepared") /\ told' = told \cup {m} /\ UNCHANGED <<heard, decision>>
GiveUp(m) == status[m] = "working" /\ Set(m, "aborted") /\ UNCHANGED <<told, heard, decision>>
Hear(m) == m \in told /\ decision = "open" /\ heard' = heard \cup {m} /\ UNCHANGED <<status, told, decision>>
Obey(m) == \/ decision = "commit" /\ Set(m, "committed") /\ UNCHANGED <<told, heard, decision>>
           \/ decision = "abort" /\ Set(m, "aborted") /\ UNCHANGED <<told, heard, decision>>
Decide == /\ decision = "open"
          /\ \/ heard = Manager /\ decision' = "commit"
             \/ decision' = "abort"
          /\ UNCHANGED <<status, told, heard>>
Next == Decide \/ \E m \in Manager : Prepare(m) \/ GiveUp(m) \/ Hear(m) \/ Obey(m)
Inv == \A a, b \in Manager : ~(status[a] = "committed" /\ status[b] = "aborted")
===============================================================================
