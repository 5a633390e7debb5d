/* families/filter_lock.mch: N processes; place: 0 outside, 1 announce, 2 sign, 3 look, 4 critical. */
#include "each.h"
byte place[N];
byte level[N];
byte last[N];
byte climbing[N];
byte seen[N];
#define STEPS(p) \
  :: d_step { place[p] == 0 -> place[p] = 2; level[p] = 1; climbing[p] = 1 } \
  :: d_step { place[p] == 1 -> place[p] = 2; level[p] = climbing[p] } \
  :: d_step { place[p] == 2 -> place[p] = 3; last[climbing[p]] = p; seen[p] = 0 } \
  :: d_step { place[p] == 3 && seen[p] < N && (seen[p] == p || level[seen[p]] < climbing[p] || last[climbing[p]] != p) -> \
       seen[p]++ } \
  :: d_step { place[p] == 3 && seen[p] == N && climbing[p] < N - 1 -> place[p] = 1; climbing[p]++; seen[p] = 0 } \
  :: d_step { place[p] == 3 && seen[p] == N && climbing[p] == N - 1 -> place[p] = 4; climbing[p] = 0; seen[p] = 0 } \
  :: d_step { place[p] == 4 -> place[p] = 0; level[p] = 0 }
active proctype filter_lock() {
  do
  EACH(STEPS)
  od
}
