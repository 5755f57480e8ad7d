// The connections of a process to those of all planes: what replicas say to each other goes over
// them, and they tell when a plane is no more.
//
// One connection for each direction, opened when there is something to say: who began it speaks,
// the other listens. To its *siblings*, the replicas of its own rank, a process opens one at once:
// a plane ends as a whole, so each process learns of its end from the sibling there, whose
// connection breaks or who cannot be reached, or from who knows better (`is_known_lost`). A process
// that has nothing more to say or to hear leaves, and says so first.
//
// On the wire, both ends being of one architecture: 8 bytes length, then so many bytes of a
// channel's number (4 bytes) and a frame; length 0: the process leaves. Between processes of one
// host large frames lie in memory that both share, and the connection says where: a process offers
// such memory when it has a large frame for another one for the first time, and uses it when that
// one has found it.
//
// Invariants
//  1. What is sent to one process arrives in the order in which it was sent, until its plane is
//     lost.
//  2. Frames come only from processes that know the job's secret, under the name they proved.
//  3. A plane, or a process, is said to be lost once, and nothing is heard of it afterwards.
//  4. What is patient goes out at most `Linger::ns` later, or with what is said to the same process
//     meanwhile and is not, or when somebody drives. Nothing is after the loss of a process: more
//     is waited for then.
//
// Thread rule: `send` and `drive` from any thread; the callbacks come from the thread of the links,
// which sleeps while nothing comes, or from one that drives, one at a time. No MPI in it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "runtime/mutex.hpp"
#include "runtime/net/poller.hpp"
#include "runtime/net/proven_stream.hpp"
#include "runtime/replicas/channels.hpp"
#include "runtime/replicas/frame_memory.hpp"
#include "runtime/replicas/votes.hpp"

namespace resprout::runtime {

// Where a process is to be found. Plain bytes, to be exchanged as they stand.
struct LinkAddress {
  std::array<char, 46> host{};  // numeric IPv4 or IPv6, ends with a zero byte; empty: nowhere
  std::uint16_t port = 0;

  bool is_somewhere() const { return host[0] != 0; }
};
static_assert(std::is_trivially_copyable_v<LinkAddress> && sizeof(LinkAddress) == 48);

class PlaneLinks final : public VoteNetwork, public ChannelNetwork {
 public:
  // Frames of so many bytes go through memory where they can.
  static constexpr std::size_t in_memory_min = 4096;

  // Frames of votes are patient: they go out together, so that each costs no system call and wakes
  // nobody by itself.
  struct Linger {
    std::int64_t ns = 0;          // so long at most; 0: nothing is patient
    std::size_t bytes = 1 << 18;  // no longer than until there are so many for one process
  };
  struct Setup {
    auth::Secret secret{};  // the job's
    Replica self;
    std::int32_t planes = 2;
    std::int32_t ranks = 1;  // of each plane
    std::string listen_address = "127.0.0.1";
    // Whether somebody else knows that a plane is lost: to a host that is cut off no connection
    // breaks. Asked once in `look_ns`; empty: never.
    std::function<bool(std::int32_t plane)> is_known_lost = {};
    std::int64_t look_ns = 1'000'000'000;
    Linger linger = {};
    // Processes are lost one by one: who breaks a connection, or cannot be reached. Who has left is
    // as good as lost: it has nothing more to say. Empty: they are lost with their planes.
    std::function<void(Replica)> on_process_lost = {};
    // Sends what was put off (VoteNetwork::expect). Called on the thread that moves frames.
    std::function<void()> on_due = [] {};
  };
  // `frame`: all that was given to one `send`, without its channel.
  using OnFrame = std::function<void(Replica from, std::span<const std::byte> frame)>;
  using OnPlaneLost = std::function<void(std::int32_t plane)>;

  // Listens. Throws std::system_error as listen_on does. `on_frame`: for the channel of votes.
  PlaneLinks(Setup setup, OnFrame on_frame, OnPlaneLost on_plane_lost);
  // Leaves, if it has not yet.
  ~PlaneLinks();

  // Frames of another channel come to `on_frame`; those of a channel that nobody listens to are
  // passed over. REQUIRES: before connect.
  void listen(Channel channel, OnFrame on_frame);

  LinkAddress address() const;
  // Everybody's, by plane * ranks + rank; its own is not looked at. A plane whose addresses are
  // nowhere was lost before it began. Starts the thread. REQUIRES: once.
  void connect(std::vector<LinkAddress> addresses);

  void send(Replica to, const VoteFrame& frame, std::span<const std::byte> bytes) override;
  void send(Replica to, Channel channel, std::span<const std::byte> frame) override;
  bool expect() override;

  // Moves what can be moved, unless another thread is at it. For who waits for what may come.
  void drive();

  // Says that this process leaves, as soon as all that was sent before is on its way, and ends the
  // thread. Nobody takes it for lost. REQUIRES: nobody waits for frames of this process.
  void leave();

  std::uint64_t rejected_connections() const { return rejected_.load(); }
  // How many frames went through shared memory, and not through a connection.
  std::uint64_t placed_frames() const { return placed_.load(); }

 private:
  using Key = std::uint64_t;  // of a stream with the poller
  struct Link {
    ProvenStream stream;
    std::int64_t deadline = 0;  // by which it has to be open
    std::uint32_t events = 0;   // that the poller waits for
  };

  int number_of(Replica replica) const { return replica.plane * setup_.ranks + replica.rank; }
  Replica replica_of(int number) const { return {number / setup_.ranks, number % setup_.ranks}; }
  bool is_known(int number) const;
  bool is_gone(int number) const {
    return is_lost_[static_cast<std::size_t>(number / setup_.ranks)] ||
           is_process_lost_[static_cast<std::size_t>(number)];
  }
  bool is_sibling(Replica replica) const {
    return replica.rank == setup_.self.rank && replica.plane != setup_.self.plane;
  }

  void send(Replica to, Channel channel, std::span<const std::byte> head,
            std::span<const std::byte> rest);
  struct Unsent;
  static void append(Unsent& unsent, Channel channel, std::span<const std::byte> head,
                     std::span<const std::byte> rest);
  void run();
  void handle(std::span<const epoll_event> events);
  void note_awake();
  void note_due();
  void set_timer();
  void accept_all();
  void add(ProvenStream stream);
  void advance(Key key);
  std::optional<std::size_t> take(Link& link, std::span<const std::uint8_t> bytes);
  bool hand_out(Replica from, Channel channel, std::span<const std::byte> frame);
  bool has_open_from(int number) const;
  // Gives up those that were not proven in time. Milliseconds until the next could be; -1: none.
  int look_at_young();
  // Loses planes of which that is known. Milliseconds until the next look; -1: none.
  int look_at_planes();
  void drop(std::map<Key, Link>::iterator at);
  void end_of(Link& link);
  void say_again(Replica to, const std::vector<std::uint8_t>& bytes);
  void lose(std::int32_t plane);
  void lose_process(int number);
  // The plane is over, however its processes are lost.
  void lose_all_of(std::int32_t plane);
  // What the thread of the links does next, as far as the one that calls this knows; and what goes
  // out: all, or what may not wait.
  enum class Then { sleep, go_on };
  enum class What { due, all };
  void send_all(Then then);
  void send_out(Then then, What what);
  void say(Link& link, Key key, std::span<const std::uint8_t> bytes);
  void wait_for(Link& link, Key key);
  Link* outgoing_to(Replica to);
  // Of plane_links_memory.cpp. The first three with mutex_.
  void offer_memory(Unsent& unsent);
  bool maybe_place(Unsent& unsent, Channel channel, std::span<const std::byte> head,
                   std::span<const std::byte> rest);
  void give_up_memory(Unsent& unsent);
  bool take_note(Replica from, std::span<const std::byte> frame);
  bool open_memory(Replica from, const FrameMemory::Name& name);
  void say_farewell();
  bool has_unsent() const;
  void wake();

  const Setup setup_;
  std::array<OnFrame, channels> on_frame_;  // by channel; empty: nobody listens
  const OnPlaneLost on_plane_lost_;
  Fd listener_;
  Fd wake_;
  Fd timer_;
  Poller poller_;
  std::vector<LinkAddress> addresses_;
  std::map<Key, Link> links_;
  std::map<Replica, Key> outgoing_;
  std::vector<std::pair<int, std::vector<std::uint8_t>>> going_out_;  // by send_out only
  std::vector<bool> is_lost_;                                         // by plane
  std::vector<bool> is_process_lost_;                                 // by number of the process
  std::vector<bool> has_left_;                                        // by number of the process
  std::vector<std::optional<FrameMemory>> read_from_;                 // likewise
  Key last_key_ = 2;  // those below are of the poller itself
  std::int64_t look_at_ = 0;
  std::thread thread_;
  std::atomic<bool> is_leaving_{false};
  std::atomic<bool> is_hurried_{false};  // nothing is patient any more
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<std::uint64_t> placed_{0};
  Mutex driving_;  // guards what is above, between connect and leave
  Mutex mutex_;    // taken last
  enum class Sharing : std::uint8_t { not_offered, offered, agreed, refused };
  struct Unsent {
    std::vector<std::uint8_t> bytes;
    std::size_t placed = 0;  // bytes that these say the places of
    bool is_due = false;
    Sharing sharing = Sharing::not_offered;
    std::optional<FrameMemory> memory;
  };
  std::vector<Unsent> unsent_ RESPROUT_GUARDED_BY(mutex_);  // by number of the process
  // Of whom there is something, in the order of their turns.
  std::vector<int> spoken_to_ RESPROUT_GUARDED_BY(mutex_);
  // The thread will look at what is due before it sleeps.
  bool is_awake_ RESPROUT_GUARDED_BY(mutex_) = false;
  bool is_timer_set_ RESPROUT_GUARDED_BY(mutex_) = false;  // it will wake it for all the rest
};

}  // namespace resprout::runtime
