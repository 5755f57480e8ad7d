// What was measured on this machine of collectives (`resprout calibrate`,
// docs/how-to/calibrate.md): from which size on the MPI library is faster than Resprout.
//
// A calibration as text, in RESPROUT_COLLECTIVES after `auto:`, parts with `;` in between:
//
//   cores=2;ranks=2,barrier=0,bcast=0.256.65536,reduce=0,allreduce=;ranks=4,...
//
// Of each collective it has the sizes in bytes, ascending, from which on somebody else carries it.
// Below the first it is Resprout: `0.256.65536` leaves less than 256 bytes, and 64 KiB and more, to
// the library; nothing leaves it none, and `0` everything.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace resprout::shim {

// What a call does; the first ones are what is calibrated.
enum class Kind {
  barrier,
  broadcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  scan,
  reduce_scatter
};
inline constexpr std::size_t calibrated_kinds = 4;
constexpr bool is_calibrated(Kind kind) {
  return static_cast<std::size_t>(kind) < calibrated_kinds;
}

// Where members of one host work together.
struct Place {
  int ranks = 2;            // of the communicator
  bool is_crowded = false;  // the job has more ranks than the host has cores
};

class Calibration {
 public:
  // What was measured with so many ranks.
  class Row {
   public:
    int ranks() const { return ranks_; }
    // REQUIRES: is_calibrated(kind).
    bool is_native_faster(Kind kind, std::size_t bytes) const {
      bool is_native = false;
      for (const std::size_t from : switches_[static_cast<std::size_t>(kind)]) {
        if (bytes < from) break;
        is_native = !is_native;
      }
      return is_native;
    }

   private:
    friend class Calibration;
    int ranks_ = 0;
    std::vector<std::size_t> switches_[calibrated_kinds];  // ascending
  };

  // Reads `text` into `into`. Empty, or what is wrong with it.
  static std::string parse(std::string_view text, Calibration& into);

  // The row for as many ranks or, among those with as much room for each, the nearest, up to twice
  // or half as many. Null if there is none. Lives as long as this.
  const Row* row_for(const Place& place) const;

 private:
  std::string read_row(std::string_view text);

  int cores_ = 0;
  std::vector<Row> rows_;  // with ascending numbers of ranks
};

}  // namespace resprout::shim
