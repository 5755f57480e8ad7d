// What the lifeline takes of one process: the real one, by the number of processes in the job.
//
//   scale tables PROCS HOST           what one process of so many keeps about the others
//   scale process PROCS HOST          so many lifelines run, and the last process is killed
//   scale host PROCS HOST             likewise, and the last host says nothing any more
//
// HOST is the number of processes on a host; rank r is on host r / HOST, or pretends to be. Prints
// one JSON object. bench/scale.py calls it, and simulates what no machine of ours can run.
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/lifeline/lifeline.hpp"
#include "runtime/lifeline/overlay.hpp"
#include "runtime/net/clock.hpp"
#include "runtime/testing/processes.hpp"
#include "runtime/transports/tcp/tcp_transport.hpp"

namespace {

using namespace resprout::runtime;
using testing::nap_ms;

constexpr int procs_max = 1024;
constexpr int period_ms = 1000;
constexpr int timeout_ms = 8 * period_ms;
constexpr unsigned seconds_max = 300;
constexpr std::size_t news_bytes = sizeof(News);
constexpr int established = 1;  // TCP_ESTABLISHED, which the header with tcpi_bytes_sent lacks

void name_host(PeerAddress& address, int host) {
  std::memcpy(address.host_id.data(), &host, sizeof host);
}

// --- tables
// -------------------------------------------------------------------------------------

struct NoFindings final : Findings {
  void handle_loss(const Loss&) override {}
  void handle_left(int) override {}
  void handle_question(int) override {}
  void handle_at_work(int) override {}
  void handle_silent_link(int, int) override {}
  void handle_message(int, std::span<const std::uint8_t>) override {}
  void handle_other_version(const std::string&, int) override {}
};

std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Of a process that has just been given the addresses of all others.
int print_tables(int procs, int host) {
  std::vector<PeerAddress> peers(static_cast<std::size_t>(procs));
  for (int rank = 0; rank < procs; ++rank)
    name_host(peers[static_cast<std::size_t>(rank)], rank / host);
  const LifelineOptions options;
  resprout::protocols::LocalHealth health;
  NoFindings findings;
  Poller poller;
  const std::size_t before = heap_bytes();
  const Roster roster(0, procs);
  Overlay overlay(options, health, roster, findings, poller, 0);
  const std::int64_t began = monotonic_ns();
  overlay.start({peers.begin(), peers.end()}, began);
  const std::int64_t took = monotonic_ns() - began;
  const std::size_t kept = heap_bytes() - before;
  TcpTransport transport(0, options.secret, "127.0.0.1");
  std::vector<TcpEndpoint> endpoints(static_cast<std::size_t>(procs), {"10.111.222.233", 4000});
  const std::size_t before_transport = heap_bytes();
  transport.set_peers(std::vector(endpoints));
  std::printf(
      "{\"procs\": %d, \"host\": %d, \"address\": %zu, \"kept\": %zu, "
      "\"kept_by_transport\": %zu, \"start_ms\": %.3f}\n",
      procs, host, sizeof(PeerAddress), kept, heap_bytes() - before_transport,
      static_cast<double>(took) / 1e6);
  return 0;
}

// --- processes
// ----------------------------------------------------------------------------------

struct Counted {
  std::atomic<int> links;
  std::atomic<std::int64_t> start_bytes, rest_bytes, loss_bytes;  // sent
  std::atomic<std::int64_t> memory_bytes;                         // of its own
  std::atomic<int> heard;                                         // how many are lost
  std::atomic<std::int64_t> heard_ns;                             // of the last one
};

enum Stage : int { starting, connected, rested, killed, counted };

struct Board {
  std::atomic<int> listening, connected, at_rest, looked, done;
  std::atomic<int> stage;
  std::atomic<std::int64_t> killed_ns;
  PeerAddress addresses[procs_max];
  Counted counted[procs_max];
};

int number(const char* text) { return static_cast<int>(std::strtol(text, nullptr, 10)); }

// What this process has sent over each of its connections, by the inode of the socket.
std::map<std::string, std::int64_t> sent_by_connection() {
  std::map<std::string, std::int64_t> sent;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string name = std::filesystem::read_symlink(entry.path(), gone);
    if (gone || !name.starts_with("socket:")) continue;
    const int fd = number(entry.path().filename().c_str());
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == established)
      sent[name] = static_cast<std::int64_t>(info.tcpi_bytes_sent - info.tcpi_bytes_retrans);
  }
  return sent;
}

// Over the connections that were there before, too.
std::int64_t sent_since(const std::map<std::string, std::int64_t>& before,
                        const std::map<std::string, std::int64_t>& now) {
  std::int64_t bytes = 0;
  for (const auto& [name, sent] : now)
    if (const auto it = before.find(name); it != before.end()) bytes += sent - it->second;
  return bytes;
}

std::int64_t own_memory_bytes() {
  std::FILE* const file = std::fopen("/proc/self/smaps_rollup", "r");
  if (file == nullptr) return 0;
  char line[256];
  long long sum = 0;
  while (std::fgets(line, sizeof line, file) != nullptr)
    for (const std::string_view key : {"Private_Clean:", "Private_Dirty:"})
      if (std::string_view(line).starts_with(key))
        sum += std::strtoll(line + key.size(), nullptr, 10);
  std::fclose(file);
  return sum * 1024;  // of KiB
}

void wait_for(const Board& board, int stage) {
  while (board.stage < stage) nap_ms(5);
}

void run_rank(int rank, int procs, int host, int lost, Board& board) {
  Counted& mine = board.counted[rank];
  const std::int64_t memory = own_memory_bytes();
  LifelineOptions options;
  options.rank = rank;
  options.secret.fill(0x77);
  options.keeps_views = false;  // in large jobs there are none
  options.heartbeat_period_ns = std::int64_t{period_ms} * 1'000'000;
  options.heartbeat_timeout_ns = std::int64_t{timeout_ms} * 1'000'000;
  options.on_loss = [&](const Loss&) {
    mine.heard_ns = monotonic_ns();
    ++mine.heard;
  };
  Lifeline lifeline(options);
  board.addresses[rank] = lifeline.listen();
  name_host(board.addresses[rank], rank / host);
  ++board.listening;
  while (board.listening < procs) nap_ms(5);
  const std::span<const PeerAddress> peers(board.addresses, static_cast<std::size_t>(procs));
  lifeline.connect(peers, make_view_tree({4}, {peers, {}}));
  ++board.connected;
  wait_for(board, connected);

  const auto began = sent_by_connection();
  const std::int64_t began_ns = monotonic_ns();
  std::int64_t bytes = 0;
  for (const auto& [name, sent] : began) bytes += sent;
  mine.links = static_cast<int>(began.size());
  mine.start_bytes = bytes;
  mine.memory_bytes = own_memory_bytes() - memory;
  nap_ms(5 * period_ms);
  const double periods = static_cast<double>(monotonic_ns() - began_ns) / (period_ms * 1e6);
  mine.rest_bytes = static_cast<std::int64_t>(
      static_cast<double>(sent_since(began, sent_by_connection())) / periods);
  ++board.at_rest;
  wait_for(board, rested);

  const auto before = sent_by_connection();
  const std::int64_t before_ns = monotonic_ns();
  ++board.looked;
  wait_for(board, killed);
  while (mine.heard < lost) nap_ms(5);
  // What it has to pass on is written by then; and so many whole periods have the same heartbeats,
  // whenever they begin.
  nap_ms(period_ms / 4);
  const std::int64_t periods_ns = monotonic_ns() - before_ns;
  constexpr std::int64_t period_ns = std::int64_t{period_ms} * 1'000'000;
  nap_ms(static_cast<int>((period_ns - periods_ns % period_ns) / 1'000'000));
  const auto all = sent_since(before, sent_by_connection());
  const double beats = static_cast<double>(mine.rest_bytes) *
                       static_cast<double>(monotonic_ns() - before_ns) / (period_ms * 1e6);
  mine.loss_bytes = std::max<std::int64_t>(0, all - static_cast<std::int64_t>(beats));
  ++board.done;
  wait_for(board, counted);
  _exit(0);
}

int print_processes(int procs, int host, int lost) {
  const testing::Shared<Board> board;
  testing::Processes processes(
      procs, [&](int rank) { run_rank(rank, procs, host, lost, *board); }, seconds_max);
  const auto until = [&](const std::atomic<int>& count, int enough) {
    while (count < enough) {
      for (int rank = 0; rank < procs; ++rank)
        if (!processes.is_running(rank) && board->stage < killed) std::exit(1);
      nap_ms(5);
    }
  };
  until(board->connected, procs);
  nap_ms(2 * period_ms);  // links that others have begun
  board->stage = connected;
  until(board->at_rest, procs);
  board->stage = rested;
  until(board->looked, procs);
  const std::int64_t killed_ns = monotonic_ns();
  for (int rank = procs - lost; rank < procs; ++rank)
    processes.signal(rank, lost == 1 ? SIGKILL : SIGSTOP);
  board->stage = killed;
  until(board->done, procs - lost);
  std::int64_t links = 0, links_most = 0, start = 0, rest = 0, loss = 0, memory = 0, last = 0;
  for (int rank = 0; rank < procs; ++rank) {
    const Counted& one = board->counted[rank];
    links += one.links;
    links_most = std::max<std::int64_t>(links_most, one.links);
    start += one.start_bytes;
    rest += one.rest_bytes;
    loss += one.loss_bytes;
    memory += one.memory_bytes;
    last = std::max<std::int64_t>(last, one.heard_ns);
  }
  board->stage = counted;
  const double each = procs;
  const auto news = static_cast<double>(news_bytes);
  std::printf(
      "{\"procs\": %d, \"host\": %d, \"lost\": %d, \"links\": %.3f, \"links_most\": %lld, "
      "\"start_bytes\": %.1f, \"heartbeats\": %.3f, \"loss_messages\": %.3f, "
      "\"memory\": %.0f, \"known_ms\": %.3f}\n",
      procs, host, lost, static_cast<double>(links) / each, static_cast<long long>(links_most),
      static_cast<double>(start) / each, static_cast<double>(rest) / each / news,
      static_cast<double>(loss) / (each - lost) / news, static_cast<double>(memory) / each,
      static_cast<double>(last - killed_ns) / 1e6);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 4 ? argv[1] : "";
  const int procs = argc == 4 ? number(argv[2]) : 0;
  const int host = argc == 4 ? number(argv[3]) : 0;
  if (what == "tables" && procs > 0 && host > 0) return print_tables(procs, host);
  const bool is_possible = procs > host && procs <= procs_max && host > 0;
  if (what == "process" && is_possible) return print_processes(procs, host, 1);
  if (what == "host" && is_possible) return print_processes(procs, host, host);
  std::fprintf(stderr, "usage: scale tables|process|host PROCS HOST\n");
  return 2;
}
