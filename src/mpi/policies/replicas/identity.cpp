#include "mpi/policies/replicas/identity.hpp"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "mpi/policies/replicas/random_stream.hpp"
#include "mpi/policies/replicas/system_answers.hpp"

namespace resprout::shim {
namespace {

constexpr pid_t pid_max = 1 << 22;  // the most that Linux gives
constexpr std::size_t piece_max = 4096;

constinit Answers system_answers("a random number in a thread",
                                 Answers::IfMultiple::decided_until_threads);
std::atomic<bool> has_ids{false};
pid_t given_pid = 0;
pid_t given_parent = 0;
RandomStream stream;

bool parse_key(std::string_view text, RandomStream::Key& key) {
  if (text.size() < 2 * key.size()) return false;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char* digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, key[i], 16);
    if (error != std::errc{} || end != digits + 2) return false;
  }
  return true;
}

// RESPROUT_SYSTEM=decided:KEY, 64 hexadecimal digits: what the launcher makes of `decided`.
[[gnu::constructor]] void begin_with_given_identity() {
  constexpr std::string_view head = "decided:";
  const char* text = getenv("RESPROUT_SYSTEM");
  const char* rank_text = getenv("OMPI_COMM_WORLD_RANK");
  RandomStream::Key key{};
  if (text == nullptr || rank_text == nullptr || !std::string_view(text).starts_with(head)) return;
  if (!parse_key(text + head.size(), key)) return;
  const auto rank = static_cast<int>(std::strtol(rank_text, nullptr, 10));
  // Of a job one after the other, and of others likely others.
  std::uint32_t base = 0;
  RandomStream bases(key, ~std::uint64_t{0});
  bases.fill(std::as_writable_bytes(std::span(&base, 1)));
  given_parent = pid_max + 1 + static_cast<pid_t>(base & 0x3fffffff);
  given_pid = given_parent + 1 + rank;
  stream = RandomStream(key, static_cast<std::uint64_t>(rank));
  system_answers.begin();
  has_ids.store(true);
}

bool is_program_itself(const void* caller) {
  return has_ids.load(std::memory_order_relaxed) && is_program(caller) &&
         real_pid() == program_pid();
}

void get_own(std::span<std::byte> bytes) {
  static std::atomic<ssize_t (*)(void*, size_t, unsigned)> found{nullptr};
  while (!bytes.empty()) {
    const ssize_t got = behind(found, "getrandom")(bytes.data(), bytes.size(), 0);
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

// Of the host that decides: all of `name`, so that what is sent with it is alike, too.
void decide_name(std::span<char> name, const void* caller) {
  const Whose whose = system_answers.whose_for(caller);
  if (whose == Whose::own) return;
  const std::size_t length = strnlen(name.data(), name.size());
  std::ranges::fill(name.subspan(length), '\0');
  if (whose == Whose::decided) Answers::decide(std::as_writable_bytes(name));
}

// What does not change from moment to moment.
struct sysinfo lasting_part(struct sysinfo info) {
  info.uptime = 0;
  for (unsigned long& load : info.loads) load = 0;
  info.freeram = info.sharedram = info.bufferram = info.freeswap = info.freehigh = 0;
  info.procs = 0;
  return info;
}

}  // namespace

void open_system() {
  if (system_answers.is_own()) return;
  system_answers.open();
  note_openmp();
}
void close_system() { system_answers.close(); }

bool is_random_alike(const void* caller) { return system_answers.whose_for(caller) != Whose::own; }

bool fill_alike(std::span<std::byte> bytes, const void* caller) {
  const Whose whose = system_answers.whose_for(caller);
  if (whose == Whose::own) return false;
  if (whose == Whose::stands) return stream.fill(bytes), true;
  get_own(bytes);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece_max, bytes.size())))
    Answers::decide(bytes.first(std::min(piece_max, bytes.size())));
  return true;
}

pid_t real_pid_of(pid_t pid) {
  return has_ids.load(std::memory_order_relaxed) && pid == given_pid ? program_pid() : pid;
}

RealPath::RealPath(const char* path) : path_(path) {
  constexpr std::string_view head = "/proc/";
  if (!has_ids.load(std::memory_order_relaxed) || path == nullptr) return;
  if (std::strncmp(path, head.data(), head.size()) != 0) return;
  const char* const end = path + std::strlen(path);
  pid_t pid = 0;
  const auto [rest, error] = std::from_chars(path + head.size(), end, pid);
  if (error != std::errc{} || real_pid_of(pid) == pid) return;
  std::snprintf(room_, sizeof room_, "/proc/%d%s", program_pid(), rest);
  path_ = room_;
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" pid_t getpid() { return is_program_itself(RESPROUT_CALLER) ? given_pid : real_pid(); }

// A child's parent is the one that has told it its id.
extern "C" pid_t getppid() {
  static std::atomic<pid_t (*)()> found{nullptr};
  const pid_t parent = behind(found, "getppid")();
  if (!has_ids.load(std::memory_order_relaxed) || !is_program(RESPROUT_CALLER)) return parent;
  if (real_pid() == program_pid()) return given_parent;
  return parent == program_pid() ? given_pid : parent;
}

extern "C" pid_t gettid() {
  static std::atomic<pid_t (*)()> found{nullptr};
  const pid_t own = behind(found, "gettid")();
  const bool is_main = own == program_pid();
  return is_main && is_program_itself(RESPROUT_CALLER) ? given_pid : own;
}

extern "C" int gethostname(char* name, size_t size) {
  static std::atomic<int (*)(char*, size_t)> found{nullptr};
  const int code = behind(found, "gethostname")(name, size);
  if (code == 0) decide_name({name, size}, RESPROUT_CALLER);
  return code;
}

extern "C" int uname(utsname* names) {
  static std::atomic<int (*)(utsname*)> found{nullptr};
  const int code = behind(found, "uname")(names);
  if (code == 0) *names = system_answers.answer(*names, RESPROUT_CALLER, [&] { return *names; });
  return code;
}

extern "C" int sched_getcpu() {
  static std::atomic<int (*)()> found{nullptr};
  return system_answers.answer(behind(found, "sched_getcpu")(), RESPROUT_CALLER, [] { return 0; });
}

extern "C" int getloadavg(double* loads, int count) {
  struct Loads {
    double of[3] = {};
    int count = 0;
  } own;
  static std::atomic<int (*)(double*, int)> found{nullptr};
  own.count = behind(found, "getloadavg")(own.of, std::min(count, 3));
  own = system_answers.answer(own, RESPROUT_CALLER, [&] { return Loads{{}, own.count}; });
  for (int i = 0; i < own.count; ++i) loads[i] = own.of[i];
  return own.count;
}

extern "C" int sysinfo(struct sysinfo* info) {
  static std::atomic<int (*)(struct sysinfo*)> found{nullptr};
  const int code = behind(found, "sysinfo")(info);
  if (code == 0)
    *info = system_answers.answer(*info, RESPROUT_CALLER, [&] { return lasting_part(*info); });
  return code;
}
