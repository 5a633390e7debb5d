/* families/cycles.mch: N counters, values 0..M. */
#include "each.h"
byte at[N];
#define UP(i) :: d_step { at[i] = (at[i] + 1) % (M + 1) }
active proctype cycles() {
  do
  EACH(UP)
  od
}
