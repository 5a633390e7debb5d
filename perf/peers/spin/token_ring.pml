/* families/token_ring.mch: N servers; the token starts anywhere. */
#include "each.h"
byte token = 255;
bit request[N];
bit inside;
#define START(i) :: d_step { token == 255 -> token = i }
#define ASK(i) :: d_step { token != 255 && request[i] == 0 -> request[i] = 1 }
active proctype ring() {
  do
  EACH(START)
  EACH(ASK)
  :: d_step { token != 255 && !inside -> token = (token + 1) % N }
  :: d_step { token != 255 && !inside -> inside = 1 }
  :: d_step { inside -> inside = 0 }
  od
}
