/* papers/peterson.mch: N processes; at: 0 outside, 1 announce, 2 sign, 3 wait, 4 critical. signed holds p + 1. */
#include "each.h"
byte at[N];
byte announced[N];
byte signed_by[N];
byte round[N];
byte critical;
byte me;
#define BEHIND(q) (q == me || announced[q] < round[me])
#define STEPS(p) \
  :: d_step { at[p] == 0 -> at[p] = 1; round[p] = 1 } \
  :: d_step { at[p] == 1 -> at[p] = 2; announced[p] = round[p] } \
  :: d_step { at[p] == 2 -> at[p] = 3; signed_by[round[p]] = p + 1 } \
  :: d_step { at[p] == 3 -> me = p; \
       if \
       :: (ALL(BEHIND)) || signed_by[round[p]] != p + 1 -> \
            if :: round[p] < N - 1 -> at[p] = 1 :: else -> at[p] = 4; critical++; assert(critical <= 1) fi; \
            round[p] = round[p] + 1 \
       :: else -> skip \
       fi; me = 0 } \
  :: d_step { at[p] == 4 -> at[p] = 0; announced[p] = 1; critical-- }
active proctype peterson() {
  do
  EACH(STEPS)
  od
}
