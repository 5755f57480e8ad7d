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
#include <cstdint>
#include <span>

namespace resprout::runtime {

class NativeCall {
 public:
  // What is done about it after a loss.
  enum class Form : std::uint8_t {
    // All need the same payload. A member that has it gives it to those that lack it.
    handed_on,
    // Each member gives something to the root, which alone gets a result. A member that has given
    // its part returns. After a loss it gives the same part again.
    gather,
    // Each member gets the sum of the parts of the members up to itself, and passes it on. A member
    // that has its sum returns. After a loss it passes the same sum on again.
    scan,
  };

  // Runs it. True: it ended well here, which makes it valid for everybody. If it synchronizes:
  // then everybody has entered it.
  virtual bool run() = 0;
  // It did not end well here. Interrupts it everywhere: nobody shall wait in it for this process.
  virtual void interrupt() = 0;
  // After it ended well: what those need to whom it did not. Of no bytes if they have it all. Of a
  // gather: what this process gives, a row (blocks.hpp), whether it ended well or not. Of a scan: a
  // row of one block, with the sum up to this process if it ended well, else with what it gives.
  virtual std::span<const std::byte> payload() = 0;
  // How many bytes count as kept: all members say the same.
  virtual std::size_t kept_bytes() { return payload().size(); }
  // It ended well elsewhere: takes the payload from there. At the root of a gather to whom it did
  // not end well: the rows of all who live. In a scan that did not: those of all up to this
  // process, where the block of the lowest rank may stand for others below it.
  virtual void take(std::span<const std::byte> payload) = 0;

  // Whether nobody returns from it before all members have entered it. All members say the same.
  virtual bool synchronizes() const = 0;
  // Of a broadcast or a gather the root, a rank of the communicator, else -1.
  virtual int root() const { return -1; }
  // All members say the same.
  virtual Form form() const { return Form::handed_on; }
  // That it ended well here says nothing of others: all agree at the end whether it did so
  // everywhere. Then there is no payload. REQUIRES: if so, it is handed on.
  virtual bool is_voted_on() const { return false; }

 protected:
  ~NativeCall() = default;
};

}  // namespace resprout::runtime
