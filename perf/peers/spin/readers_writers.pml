/* families/readers_writers.mch: N processes, each 0 idle, 1 wants to read, 2 wants to write, 3 reads, 4 writes. */
#include "each.h"
byte mode[N];
#define NO_WRITER(q) mode[q] != 4
#define NOBODY(q) mode[q] < 3
#define STEPS(p) \
  :: d_step { mode[p] == 0 -> mode[p] = 1 } \
  :: d_step { mode[p] == 0 -> mode[p] = 2 } \
  :: d_step { mode[p] == 1 && (ALL(NO_WRITER)) -> mode[p] = 3 } \
  :: d_step { mode[p] == 2 && (ALL(NOBODY)) -> mode[p] = 4 } \
  :: d_step { mode[p] == 3 -> mode[p] = 0 } \
  :: d_step { mode[p] == 4 -> mode[p] = 0 }
active proctype readers_writers() {
  do
  EACH(STEPS)
  od
}
