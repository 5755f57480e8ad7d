// Receives that one call starts and another one completes, where all replicas have to receive the
// same: MPI_Irecv and persistent ones from MPI_ANY_SOURCE, and whatever has to wait behind them.
//
// Which receive is given to the MPI library when, and when the program may see that it is complete,
// says runtime/replicas/receive_order.hpp. The program's request is a stand-in meanwhile: a receive
// of no bytes from this process itself, on a communicator of its own, which every call of MPI
// takes; when the receive is complete, and known to all to be, the message is sent. Its status is
// written over that of the stand-in.
//
// A persistent receive that names its source is MPI's own, whose handle the program has. Only where
// it is started behind a wildcard it has a stand-in, for that time: who completes requests asks for
// those in place of the program's (AskedRequests).
//
// Where siblings stand in (replica_substitution.hpp), no wildcard is given to MPI: who decides
// looks for messages and gives MPI a receive of the one that it has found. So a loss breaks none
// off, and takes no message with it that MPI gave to one. What a lost process should have sent is
// recalled.
//
// Somebody has to look after them whatever the program waits for: MPI's progress does, on the
// thread that is inside of it, and so do calls that wait for other planes. So a replica that
// follows takes a message for which a process of its plane waits, though it is in a collective
// itself; and the one that decides says what has come, whatever it is in.
//
// Lazy Fault Detection for Redundant MPI, chapter 7; docs/explanation/receives.md.
// Thread rule: as decided.hpp; `advance` from any thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/handles/requests/request_table.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "runtime/replicas/receive_order.hpp"

namespace resprout::shim {

class Messages;

class Receives {
  struct Entry;

 public:
  using Claim = RequestClaim<Entry>;

  // The arguments of MPI_Irecv, as the program has them.
  struct Call {
    void* buffer = nullptr;
    int count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    int source = MPI_PROC_NULL;
    int tag = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    std::optional<std::uint64_t> message = {};  // its ticket among messages
  };

  // `stood_in_for`: where siblings stand in for the lost.
  explicit Receives(Decided& by, Messages* stood_in_for = nullptr);
  ~Receives();
  Receives(const Receives&) = delete;
  Receives& operator=(const Receives&) = delete;

  // MPI_Irecv, MPI_Recv_init and MPI_Start; what they return.
  int start(const Call& call, MPI_Request* request);
  int init(const Call& call, MPI_Request* request);
  int start_again(MPI_Request request, std::optional<std::uint64_t> message = {});
  // MPI_Start of a persistent send whose receiver is lost: it is complete at once.
  int start_in_place_of(MPI_Request send);
  // MPI_Imrecv of a message that is in its buffer already; or, if `call` has a ticket, is there
  // when the program completes it.
  int start_received(const MPI_Status& status, MPI_Request* request, const Call& call);
  // A handle for a message that MPI does not have: that of an empty one from this process itself.
  MPI_Message stand_in_message();
  // For MPI_Cancel. False: it is no wildcard, nothing was done.
  bool maybe_cancel(MPI_Request request);
  // A call is about to have MPI complete it.
  Claim claim(MPI_Request request);
  // That call goes on with it no more: the handle is `after` now. If MPI has freed it with an error
  // nobody completes it.
  void give_back(const Claim& claim, MPI_Request after);
  // MPI has completed it, and its handle is `after` now. Writes the status, but for its MPI_ERROR;
  // gives back how the receive has ended. MPI_SUCCESS if it is none of these.
  int complete(const Claim& claim, MPI_Request after, MPI_Status& status);

  bool has(MPI_Request request);
  // What MPI is to complete for it: a stand-in, or itself.
  MPI_Request stand_in_of(MPI_Request request);
  // Some may have one beside the program's handle. Two loads, most of the time.
  bool has_stand_ins() const { return lent_.load(std::memory_order_relaxed) != 0; }
  // It is started, and the program has not completed it.
  bool is_active(MPI_Request request);
  // It is complete, and the program asks without completing it: writes the status. False: it is
  // none of these.
  bool describe(MPI_Request request, MPI_Status* status);
  // Where it is complete, and a sibling of its sender gives the message, until that is here, as
  // describe().
  void wait_for_recalled(MPI_Request request, MPI_Status* status);
  // What it takes, as far as that is decided. Its source is MPI_PROC_NULL: nothing, it was
  // cancelled.
  std::optional<Decided::From> taken_by(MPI_Request request);
  std::optional<Decided::From> taken_by(const Claim& claim);
  // The program has freed it while it was inactive, or gives it up after an error.
  void forget(MPI_Request request);

  // Whether nothing that this process has started before may take a message that (source, tag)
  // names, unless MPI has it already and it is decided what it takes.
  bool is_clear(MPI_Comm comm, int source, int tag);
  void wait_until_clear(MPI_Comm comm, int source, int tag);
  // As find_message(), of those that no receive that was started before may take.
  std::optional<Decided::From> look_for_message(MPI_Comm comm, int source, int tag);
  // Some that the program has not completed need it: they may be given to MPI later.
  bool is_needed(MPI_Comm comm);

  // No receive of these is under way.
  bool is_idle();
  // How many receives from MPI_ANY_SOURCE were started.
  std::uint64_t wildcards_started();

  // Gives to MPI what may be given, says what has come, and completes what is complete.
  void advance();
  // Decisions begin anew: what was decided before is over. REQUIRES: is_idle().
  void restart();
  // For MPI_Finalize: afterwards nothing is decided any more. What is still open is cancelled.
  void close(const std::function<void()>& meanwhile);

 private:
  using Order = runtime::ReceiveOrder;
  struct Entry {
    Entry() = default;
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    Call call;
    MPI_Request stand_in = MPI_REQUEST_NULL;  // beside the program's handle, if that is MPI's own
    int stand_in_tag = 0;
    bool is_own = false;  // the program's handle is MPI's own
    MPI_Request native = MPI_REQUEST_NULL;
    bool owns_datatype = false;  // the program may free its own
    bool is_active = false;      // started, and not completed by the program
    bool is_done = false;        // MPI has completed it, or it was cancelled
    bool is_recalled = false;    // its sender is lost: a sibling says what it takes
    bool is_cancel_due = false;  // the program wants it, or is at its end
    Order::Ticket ticket = 0;    // none: it was received before it was started
    MPI_Status status{};
    int code = MPI_SUCCESS;
  };
  using EntryPtr = std::shared_ptr<Entry>;
  class Hold;

  bool needs_entry(const Call& call) const;
  int next_tag();
  EntryPtr add(const Call& call, MPI_Request request, int tag);
  int lend(Entry& entry);
  void activate(const EntryPtr& entry);
  std::optional<Decided::From> taken_by(const Entry& entry) const;
  void drop(const EntryPtr& entry);

  void advance_held();
  void take_news();
  void find_out();
  bool maybe_find(Entry& entry);
  void tell_messages(const Entry& entry);
  // Siblings say what it takes; where they cannot, as they do not know its communicator, this
  // process ends.
  bool is_of_lost(const Call& call, int source) const;
  void give();
  void recall();
  void collect();
  void note_received(Entry& entry, const MPI_Status& status, int code);
  void cancel_where_due();
  void withdraw(Entry& entry);
  void say(const Decided::Match& match);
  void show();

  Decided& by_;
  Messages* const stood_in_for_;
  MPI_Comm own_ = MPI_COMM_NULL;  // of this process alone, for stand-ins
  int last_tag_ = 0;
  int tag_max_ = 0;
  bool decides_ = false;
  std::uint64_t wildcards_started_ = 0;
  Order order_;
  RequestTable<Entry> entries_;       // by the program's handle
  std::atomic<std::size_t> lent_{0};  // active ones with another one beside it
  std::vector<EntryPtr> open_;        // that are not shown, in the order in which they were started
  std::atomic<std::size_t> open_count_{0};
  std::atomic<bool> is_held_{false};  // by who changes what is above
};

// Of this process; null: receives are MPI's own. Set between two MPI calls of the program.
inline std::atomic<Receives*> decided_receives{nullptr};

inline Receives* receives() { return decided_receives.load(std::memory_order_acquire); }

// The requests of a call that completes some, as MPI has to be asked for them: while one lives,
// stand-ins are in the place of the program's own.
class AskedRequests {
 public:
  AskedRequests(int count, MPI_Request* requests);
  ~AskedRequests();
  AskedRequests(const AskedRequests&) = delete;
  AskedRequests& operator=(const AskedRequests&) = delete;

 private:
  MPI_Request* requests_;
  std::vector<std::pair<int, MPI_Request>> replaced_;
};

// As the functions of the class, and MPI's own calls where nothing is decided.
int start_receive(const Receives::Call& call, MPI_Request* request);
int init_receive(const Receives::Call& call, MPI_Request* request);
// MPI_Start: of a request of any kind.
int start_receive_again(MPI_Request& request, std::optional<std::uint64_t> message);
void wait_until_clear(MPI_Comm comm, int source, int tag);

// A receive that this call starts and completes; or any other request.
class ClaimedReceive {
 public:
  explicit ClaimedReceive(MPI_Request request) : by_(receives()) {
    if (by_ != nullptr) claim_ = by_->claim(request);
  }
  // MPI has completed it, and its handle is `after` now: as Receives::complete.
  int complete(MPI_Request after, MPI_Status& status) {
    return by_ != nullptr ? by_->complete(claim_, after, status) : MPI_SUCCESS;
  }
  // MPI has ended it with an error.
  void give_back(MPI_Request after) {
    if (by_ != nullptr) by_->give_back(claim_, after);
  }

 private:
  Receives* const by_;
  Receives::Claim claim_;
};

}  // namespace resprout::shim
