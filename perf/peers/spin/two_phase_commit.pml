/* families/two_phase_commit.mch: N managers, each 0 working, 1 prepared, 2 committed, 3 aborted; decision 0 open, 1 commit, 2 abort. */
#include "each.h"
byte status[N];
bit told[N];
bit heard[N];
byte decision;
#define HEARD(m) heard[m]
#define NOT_COMMITTED(m) status[m] != 2
#define NOT_ABORTED(m) status[m] != 3
#define SAFE assert((ALL(NOT_COMMITTED)) || (ALL(NOT_ABORTED)))
#define STEPS(m) \
  :: d_step { status[m] == 0 -> status[m] = 1; told[m] = 1; SAFE } \
  :: d_step { status[m] == 0 -> status[m] = 3; SAFE } \
  :: d_step { told[m] && decision == 0 -> heard[m] = 1 } \
  :: d_step { decision == 1 -> status[m] = 2; SAFE } \
  :: d_step { decision == 2 -> status[m] = 3; SAFE }
active proctype commit() {
  do
  EACH(STEPS)
  :: d_step { decision == 0 && (ALL(HEARD)) -> decision = 1 }
  :: d_step { decision == 0 -> decision = 2 }
  od
}
