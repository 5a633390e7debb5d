---------------------------- MODULE Subsets ----------------------------
\* families/subsets.mch: N items.
EXTENDS Naturals
CONSTANT N
VARIABLE chosen
Item == 1..N
Init == chosen = {}
Next == \/ \E i \in Item \ chosen : chosen' = chosen \cup {i}
        \/ \E i \in chosen : chosen' = chosen \ {i}
Inv == chosen \subseteq Item
========================================================================
