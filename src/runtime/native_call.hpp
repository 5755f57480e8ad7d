// An operation that the library below carries, as long as nobody is lost.
//
// The cheapest dissemination is the MPI library's own collective. It knows nothing of losses; so
// what it left undone is settled afterwards, by messages of ours
// (docs/explanation/protocols/native.md). Here is what a session has to know of it; it does not
// know MPI.
//
// Thread rule: the session calls these on the thread that called it, `run` and `interrupt` without
// the engine's lock.
#pragma once

#include <cstddef>
#include <span>

namespace resprout::runtime {

class NativeCall {
 public:
  // Runs it. True: it ended well here, which makes it valid for everybody. If it synchronizes:
  // then everybody has entered it.
  virtual bool run() = 0;
  // It did not end well here. Interrupts it everywhere: nobody shall wait in it for this process.
  virtual void interrupt() = 0;
  // After it ended well: what those need to whom it did not. Of no bytes if they have it all.
  virtual std::span<const std::byte> payload() = 0;
  // It ended well elsewhere: takes the payload from there.
  virtual void take(std::span<const std::byte> payload) = 0;

  // The same at all members.
  virtual bool synchronizes() const = 0;
  // Of a broadcast the root, a rank of the communicator, else -1.
  virtual int root() const { return -1; }

 protected:
  ~NativeCall() = default;
};

}  // namespace resprout::runtime
