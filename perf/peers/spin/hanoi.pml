/* families/hanoi.mch: N discs, 0 the smallest; pegs 0, 1, 2. */
#include "each.h"
byte on[N];
#define MOVE(d, to) :: d_step { on[d] != to && FREE(d, to) -> on[d] = to }
#define CLEAR(d, to, e) (e >= d || (on[e] != on[d] && on[e] != to))
#if N == 3
#define FREE(d, to) CLEAR(d, to, 0) && CLEAR(d, to, 1)
#elif N == 9
#define FREE(d, to) CLEAR(d,to,0) && CLEAR(d,to,1) && CLEAR(d,to,2) && CLEAR(d,to,3) && CLEAR(d,to,4) && CLEAR(d,to,5) && CLEAR(d,to,6) && CLEAR(d,to,7)
#endif
#define STEPS(d) MOVE(d, 0) MOVE(d, 1) MOVE(d, 2)
active proctype hanoi() {
  do
  EACH(STEPS)
  od
}
