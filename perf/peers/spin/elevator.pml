/* families/elevator.mch: floors 0..N-1; calls[f] is a pressed button, up the direction. */
#include "each.h"
byte cab;
bit up = 1;
bit open;
bit calls[N];
#define ABOVE(f) (f <= cab || !calls[f])
#define BELOW(f) (f >= cab || !calls[f])
#define NONE(f) !calls[f]
#define NO_CALL_AHEAD ((up && (ALL(ABOVE))) || (!up && (ALL(BELOW))))
#define CALL(f) :: d_step { !calls[f] && !(open && f == cab) -> calls[f] = 1 }
active proctype elevator() {
  do
  EACH(CALL)
  :: d_step { !open && calls[cab] -> open = 1; calls[cab] = 0 }
  :: d_step { open -> open = 0 }
  :: d_step { !open && !calls[cab] && up && !(ALL(ABOVE)) -> cab++ }
  :: d_step { !open && !calls[cab] && !up && !(ALL(BELOW)) -> cab-- }
  :: d_step { !open && !calls[cab] && !(ALL(NONE)) && NO_CALL_AHEAD -> up = 1 - up }
  od
}
