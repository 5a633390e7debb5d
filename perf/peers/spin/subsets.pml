/* families/subsets.mch: N items. */
#include "each.h"
bit chosen[N];
#define CHANGE(i) :: d_step { chosen[i] == 0 -> chosen[i] = 1 } :: d_step { chosen[i] == 1 -> chosen[i] = 0 }
active proctype subsets() {
  do
  EACH(CHANGE)
  od
}
