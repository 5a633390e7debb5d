/* families/bakery.mch: N processes; phase: 0 outside, 1 choosing, 2 waiting, 3 critical. Tickets up to N + 1. */
#include "each.h"
byte phase[N];
byte seen[N];
byte ticket[N];
byte critical;
byte highest;
byte i;
#define ROOM(q) ticket[q] < N + 1
#define HIGHEST \
  i = 0; highest = 0; \
  do \
  :: i < N -> if :: ticket[i] > highest -> highest = ticket[i] :: else -> skip fi; i++ \
  :: else -> break \
  od
#define PASS(p, q) (q == p || (phase[q] != 1 && (ticket[q] == 0 || ticket[p] < ticket[q] || (ticket[p] == ticket[q] && p < q))))
#if N == 2
#define ENTER(p) PASS(p, 0) && PASS(p, 1)
#elif N == 3
#define ENTER(p) PASS(p, 0) && PASS(p, 1) && PASS(p, 2)
#elif N == 4
#define ENTER(p) PASS(p, 0) && PASS(p, 1) && PASS(p, 2) && PASS(p, 3)
#elif N == 5
#define ENTER(p) PASS(p, 0) && PASS(p, 1) && PASS(p, 2) && PASS(p, 3) && PASS(p, 4)
#endif
#define STEPS(p) \
  :: d_step { phase[p] == 0 && (ALL(ROOM)) -> HIGHEST; seen[p] = highest; highest = 0; i = 0; phase[p] = 1 } \
  :: d_step { phase[p] == 1 -> ticket[p] = seen[p] + 1; seen[p] = 0; phase[p] = 2 } \
  :: d_step { phase[p] == 2 && (ENTER(p)) -> phase[p] = 3; critical++; assert(critical <= 1) } \
  :: d_step { phase[p] == 3 -> phase[p] = 0; ticket[p] = 0; critical-- }
active proctype bakery() {
  do
  EACH(STEPS)
  od
}
