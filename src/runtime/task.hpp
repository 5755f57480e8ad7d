// What goes on in a session without being waited for: a collective that the program has started and
// will ask for later.
//
// The tasks of one session go on one after the other, in the order in which they were given to it,
// and no other operation of the session begins before they are over. So whatever a session promises
// of operations that follow one another (session.hpp) holds of tasks. MPI allows it: all members
// start the same collectives in the same order, and no program may rely on one not to wait for
// those before it.
//
// Thread rule: under the engine's lock, on any thread that drives the engine; on the lifeline's
// only if it is not for the program's threads.
#pragma once

namespace resprout::runtime {

class Task {
 public:
  virtual ~Task() = default;

  // Goes on as far as it can without waiting. True: it is over, and will not be asked again.
  virtual bool advance() = 0;
  // What it does calls what only the program's threads may call: the MPI library, or operators of
  // the program.
  virtual bool is_for_program() const = 0;
};

}  // namespace resprout::runtime
