/* families/dining.mch: N philosophers, the last one left-handed; mode 0 thinking, 1 holding, 2 eating; taken[f] is a fork. */
#include "each.h"
byte mode[N];
bit taken[N];
#define RIGHT(p) ((p + 1) % N)
#define FIRST(p) (p < N - 1 -> p : RIGHT(p))
#define SECOND(p) (p < N - 1 -> RIGHT(p) : p)
#define STEPS(p) \
  :: d_step { mode[p] == 0 && !taken[FIRST(p)] -> mode[p] = 1; taken[FIRST(p)] = 1 } \
  :: d_step { mode[p] == 1 && !taken[SECOND(p)] -> mode[p] = 2; taken[SECOND(p)] = 1 } \
  :: d_step { mode[p] == 2 -> mode[p] = 0; taken[p] = 0; taken[RIGHT(p)] = 0 }
active proctype dining() {
  do
  EACH(STEPS)
  od
}
