/* families/tiles.mch: 3 columns, H rows; the hole is 0 and its place is kept beside the board. */
#define W 3
#define CELLS (W * H)
byte board[CELLS];
byte hole;
#define SLIDE(from) board[hole] = board[from]; hole = from; board[hole] = 0
active proctype tiles() {
  byte i;
  d_step {
    do :: i < CELLS -> board[i] = i; i++ :: else -> break od;
    i = 0
  };
  do
  :: d_step { hole % W > 0 -> i = hole - 1; SLIDE(i); i = 0 }
  :: d_step { hole % W < W - 1 -> i = hole + 1; SLIDE(i); i = 0 }
  :: d_step { hole >= W -> i = hole - W; SLIDE(i); i = 0 }
  :: d_step { hole + W < CELLS -> i = hole + W; SLIDE(i); i = 0 }
  od
}
