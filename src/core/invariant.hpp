// Assertions that stay on in release builds: a broken invariant is a bug of ours, never bad input.
//
// core knows no stderr, so a broken invariant traps; the process that hosts the machine says in its
// signal handler which rank and operation it was.
#pragma once

#define RESPROUT_INVARIANT(condition) \
  do {                                \
    if (!(condition)) [[unlikely]]    \
      __builtin_trap();               \
  } while (false)
