// Random numbers of the system, as replicas get them alike (identity.hpp).
//
// A file of /dev/urandom or /dev/random is the system's own; what is read from it is replaced. So
// it has a descriptor like any other, which the program may close: a descriptor that is known to be
// one is asked each time whether it still is.
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string_view>

#include "mpi/policies/replicas/identity.hpp"
#include "mpi/policies/replicas/system_answers.hpp"

namespace resprout::shim {
namespace {

constexpr int descriptors_max = 4096;
std::array<std::atomic<bool>, descriptors_max> is_random{};
std::atomic<bool> has_random{false};

bool is_random_path(const char* path) {
  if (path == nullptr || path[0] != '/' || path[1] != 'd') return false;
  const std::string_view name(path);
  return name == "/dev/urandom" || name == "/dev/random";
}

void note_random(int descriptor) {
  if (descriptor < 0 || descriptor >= descriptors_max) return;
  is_random[static_cast<std::size_t>(descriptor)].store(true);
  has_random.store(true);
}

int note_opened(int descriptor, const char* path, const void* caller) {
  if (is_random_path(path) && is_random_alike(caller)) note_random(descriptor);
  return descriptor;
}

bool is_still_random(int descriptor) {
  if (!has_random.load(std::memory_order_relaxed)) return false;
  if (descriptor < 0 || descriptor >= descriptors_max) return false;
  std::atomic<bool>& is_known = is_random[static_cast<std::size_t>(descriptor)];
  if (!is_known.load(std::memory_order_relaxed)) return false;
  struct stat status;
  const bool is_one = fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode) &&
                      major(status.st_rdev) == 1 &&
                      (minor(status.st_rdev) == 8 || minor(status.st_rdev) == 9);
  if (!is_one) is_known.store(false);
  return is_one;
}

// As many as were asked for, or -1: the system is to be asked.
ssize_t read_alike(int descriptor, void* bytes, size_t size, const void* caller) {
  if (!is_still_random(descriptor)) return -1;
  const bool is_filled = fill_alike({static_cast<std::byte*>(bytes), size}, caller);
  return is_filled ? static_cast<ssize_t>(size) : -1;
}

// What C's library reads for itself passes by `read`.
struct Cookie {
  const void* caller;
  FILE* own;
};

ssize_t read_cookie(void* with, char* bytes, size_t size) {
  const auto* cookie = static_cast<Cookie*>(with);
  if (fill_alike({reinterpret_cast<std::byte*>(bytes), size}, cookie->caller))
    return static_cast<ssize_t>(size);
  return static_cast<ssize_t>(fread(bytes, 1, size, cookie->own));
}

int close_cookie(void* with) {
  const auto* cookie = static_cast<Cookie*>(with);
  const int code = fclose(cookie->own);
  delete cookie;
  return code;
}

// C++'s library reads the descriptor of the file by `read`.
FILE* wrapped(FILE* own, const char* path, const char* mode, const void* caller) {
  if (own == nullptr || !is_random_path(path) || mode[0] != 'r' || !is_random_alike(caller))
    return own;
  Dl_info where{};
  const bool is_known = dladdr(caller, &where) != 0 && where.dli_fname != nullptr;
  if (is_known && std::string_view(where.dli_fname).find("libstdc++") != std::string_view::npos) {
    note_random(fileno(own));
    return own;
  }
  auto* cookie = new Cookie{caller, own};
  FILE* file = fopencookie(cookie, mode, {.read = read_cookie, .close = close_cookie});
  if (file == nullptr) delete cookie;
  return file == nullptr ? own : file;
}

template <typename Number>
bool draw(Number& number, const void* caller) {
  return fill_alike(std::as_writable_bytes(std::span(&number, 1)), caller);
}

}  // namespace
}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
  static std::atomic<ssize_t (*)(void*, size_t, unsigned)> found{nullptr};
  if (fill_alike({static_cast<std::byte*>(bytes), size}, RESPROUT_CALLER))
    return static_cast<ssize_t>(size);
  return behind(found, "getrandom")(bytes, size, flags);
}

extern "C" int getentropy(void* bytes, size_t size) {
  static std::atomic<int (*)(void*, size_t)> found{nullptr};
  constexpr size_t size_max = 256;
  if (size <= size_max && fill_alike({static_cast<std::byte*>(bytes), size}, RESPROUT_CALLER))
    return 0;
  return behind(found, "getentropy")(bytes, size);
}

// As of version 2.36 of C's library.
extern "C" std::uint32_t arc4random() {
  static std::atomic<std::uint32_t (*)()> found{nullptr};
  std::uint32_t number = 0;
  return draw(number, RESPROUT_CALLER) ? number : behind(found, "arc4random")();
}

extern "C" void arc4random_buf(void* bytes, size_t size) {
  static std::atomic<void (*)(void*, size_t)> found{nullptr};
  if (!fill_alike({static_cast<std::byte*>(bytes), size}, RESPROUT_CALLER))
    behind(found, "arc4random_buf")(bytes, size);
}

extern "C" std::uint32_t arc4random_uniform(std::uint32_t bound) {
  static std::atomic<std::uint32_t (*)(std::uint32_t)> found{nullptr};
  std::uint32_t number = 0;
  if (bound < 2) return 0;
  // All that are as likely as each other.
  const std::uint32_t skipped = (std::numeric_limits<std::uint32_t>::max() % bound + 1) % bound;
  do {
    if (!draw(number, RESPROUT_CALLER)) return behind(found, "arc4random_uniform")(bound);
  } while (number < skipped);
  return number % bound;
}

// std::random_device, which asks the processor where it can.
extern "C" unsigned resprout_random_device(void* device) __asm__(
    "_ZNSt13random_device9_M_getvalEv");
extern "C" unsigned resprout_random_device(void* device) {
  static std::atomic<unsigned (*)(void*)> found{nullptr};
  unsigned number = 0;
  if (draw(number, RESPROUT_CALLER)) return number;
  return behind(found, "_ZNSt13random_device9_M_getvalEv")(device);
}

extern "C" ssize_t read(int descriptor, void* bytes, size_t size) {
  static std::atomic<ssize_t (*)(int, void*, size_t)> found{nullptr};
  const ssize_t got = read_alike(descriptor, bytes, size, RESPROUT_CALLER);
  return got >= 0 ? got : behind(found, "read")(descriptor, bytes, size);
}

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the C library's.
extern "C" ssize_t __read_chk(int descriptor, void* bytes, size_t size, size_t room) {
  static std::atomic<ssize_t (*)(int, void*, size_t, size_t)> found{nullptr};
  const ssize_t got = size > room ? -1 : read_alike(descriptor, bytes, size, RESPROUT_CALLER);
  return got >= 0 ? got : behind(found, "__read_chk")(descriptor, bytes, size, room);
}

// Who gives no mode passes something that nobody looks at.
#define RESPROUT_OPEN(name)                                                         \
  extern "C" int name(const char* path, int flags, ...) {                           \
    static std::atomic<int (*)(const char*, int, ...)> found{nullptr};              \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    const mode_t mode = va_arg(rest, mode_t);                                       \
    va_end(rest);                                                                   \
    const int descriptor = behind(found, #name)(RealPath(path).get(), flags, mode); \
    return note_opened(descriptor, path, RESPROUT_CALLER);                          \
  }
RESPROUT_OPEN(open)
RESPROUT_OPEN(open64)

#define RESPROUT_OPEN_AT(name)                                                          \
  extern "C" int name(int at, const char* path, int flags, ...) {                       \
    static std::atomic<int (*)(int, const char*, int, ...)> found{nullptr};             \
    va_list rest;                                                                       \
    va_start(rest, flags);                                                              \
    const mode_t mode = va_arg(rest, mode_t);                                           \
    va_end(rest);                                                                       \
    const int descriptor = behind(found, #name)(at, RealPath(path).get(), flags, mode); \
    return note_opened(descriptor, path, RESPROUT_CALLER);                              \
  }
RESPROUT_OPEN_AT(openat)
RESPROUT_OPEN_AT(openat64)

#define RESPROUT_OPEN_CHECKED(name)                                           \
  extern "C" int name(const char* path, int flags) {                          \
    static std::atomic<int (*)(const char*, int)> found{nullptr};             \
    const int descriptor = behind(found, #name)(RealPath(path).get(), flags); \
    return note_opened(descriptor, path, RESPROUT_CALLER);                    \
  }
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the C library's.
RESPROUT_OPEN_CHECKED(__open_2)
RESPROUT_OPEN_CHECKED(__open64_2)
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

#define RESPROUT_FOPEN(name)                                                \
  extern "C" FILE* name(const char* path, const char* mode) {               \
    static std::atomic<FILE* (*)(const char*, const char*)> found{nullptr}; \
    FILE* const file = behind(found, #name)(RealPath(path).get(), mode);    \
    return wrapped(file, path, mode, RESPROUT_CALLER);                      \
  }
RESPROUT_FOPEN(fopen)
RESPROUT_FOPEN(fopen64)
