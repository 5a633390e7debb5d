/* families/forks.mch: N forks; 0 free, 1 with a right hand, 2 with a left hand. */
#include "each.h"
byte place[N];
#define RIGHT(p) ((p + 1) % N)
#define TAKE(p) \
  :: d_step { place[p] == 0 -> place[p] = 2 } \
  :: d_step { place[RIGHT(p)] == 0 -> place[RIGHT(p)] = 1 }
active proctype forks() {
  do
  EACH(TAKE)
  od
}
