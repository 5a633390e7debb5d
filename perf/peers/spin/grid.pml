/* families/grid.mch: N axes, values 0..M. */
#include "each.h"
byte at[N];
#define UP(i) :: d_step { at[i] < M -> at[i]++ }
#define TOP(i) at[i] == M
active proctype grid() {
  do
  EACH(UP)
  :: d_step { (ALL(TOP)) -> skip }
  od
}
