/* papers/scheduler.mch: N processes, each 0 unknown, 1 waiting, 2 ready, 3 active. */
#include "each.h"
byte status[N];
#define IDLE(q) status[q] != 3
#define STEPS(p) \
  :: d_step { status[p] == 0 -> status[p] = 1 } \
  :: d_step { status[p] == 1 -> status[p] = 0 } \
  :: d_step { status[p] == 1 -> status[p] = 2 } \
  :: d_step { status[p] == 2 && (ALL(IDLE)) -> status[p] = 3 } \
  :: d_step { status[p] == 3 -> status[p] = 1 }
active proctype scheduler() {
  do
  EACH(STEPS)
  od
}
