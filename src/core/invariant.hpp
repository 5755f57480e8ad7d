// Assertions that stay on in release builds: a broken invariant is a bug of ours, never bad input.
//
// core knows no stderr. The program that hosts the machines may define `say_broken`, which says
// what is broken; then the process traps.
#pragma once

namespace resprout {

// `file`: "src/a/b.cpp". Called in a process of which nothing is known to be right.
[[gnu::weak, gnu::visibility("hidden")]] void say_broken(const char* condition, const char* file,
                                                         int line);

[[noreturn, gnu::cold, gnu::noinline]] inline void end_broken(const char* condition,
                                                              const char* file, int line) {
  if (say_broken != nullptr) say_broken(condition, file, line);
  __builtin_trap();
}

}  // namespace resprout

#define RESPROUT_INVARIANT(condition)                         \
  do {                                                        \
    if (!(condition)) [[unlikely]]                            \
      ::resprout::end_broken(#condition, __FILE__, __LINE__); \
  } while (false)
