// The program around a target. `--help` says how it is called.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzzer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace resprout::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t size_max = 8192;
// A single input takes microseconds.
constexpr unsigned watchdog_seconds = 60;

constexpr const char* help =
    "usage: %s [--seconds S] [--seed N] [--keep DIR] [--current FILE] [CORPUS...]\n"
    "\n"
    "Runs every input of the corpus (files, or folders of files), then changes of them for S "
    "seconds\n"
    "(0: none, which is the default). The seed, 1 without it, decides what is tried.\n"
    "--keep puts what reaches new code into DIR. --current has the input that runs, so also the "
    "one\n"
    "that ends this program; then `%s FILE` runs it again.\n";

struct Options {
  double seconds = 0;
  std::uint64_t seed = 1;
  std::string keep;
  std::string current;
  std::vector<std::string> corpus;
};

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "%s; see --help\n", what.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help") {
      std::printf(help, argv[0], argv[0]);
      std::exit(0);
    }
    if (word.rfind("--", 0) != 0) {
      options.corpus.push_back(word);
      continue;
    }
    if (i + 1 == argc) refuse(word + ": it takes a value");
    const char* const value = argv[++i];
    char* end = nullptr;
    if (word == "--seconds")
      options.seconds = std::strtod(value, &end);
    else if (word == "--seed")
      options.seed = std::strtoull(value, &end, 10);
    else if (word == "--keep")
      options.keep = value;
    else if (word == "--current")
      options.current = value;
    else
      refuse(word + ": there is no such option");
    if (end != nullptr && (*end != 0 || end == value))
      refuse(word + ": " + value + " is no number");
  }
  return options;
}

Input read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Input> read_corpus(const std::vector<std::string>& names) {
  std::vector<fs::path> paths;
  for (const std::string& name : names) {
    if (!fs::exists(name)) refuse(name + ": it is not there");
    if (fs::is_directory(name))
      for (const auto& entry : fs::directory_iterator(name)) paths.push_back(entry.path());
    else
      paths.emplace_back(name);
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Input> corpus;
  for (const fs::path& path : paths) corpus.push_back(read(path));
  return corpus;
}

// A file that has, at any moment, the input that runs: mapped, so that it costs no call.
class Current {
 public:
  explicit Current(const std::string& name) {
    if (name.empty()) return;
    fd_ = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0 || ftruncate(fd_, size_max) != 0) refuse(name + ": cannot be written");
    void* memory = mmap(nullptr, size_max, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory != MAP_FAILED) bytes_ = static_cast<std::uint8_t*>(memory);
  }
  void set(const Input& input) {
    if (bytes_ == nullptr) return;
    if (ftruncate(fd_, static_cast<off_t>(std::max<std::size_t>(input.size(), 1))) != 0) return;
    std::copy(input.begin(), input.end(), bytes_);
  }

 private:
  int fd_ = -1;
  std::uint8_t* bytes_ = nullptr;
};

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options)
      : options_(options), random_(options.seed), current_(options.current) {}

  void run() {
    for (Input& input : read_corpus(options_.corpus)) {
      if (input.size() > size_max) input.resize(size_max);
      maybe_keep(std::move(input));
    }
    const std::size_t given = runs_;
    if (kept_.empty()) kept_.emplace_back();
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    while (std::chrono::steady_clock::now() < end) {
      for (int i = 0; i < 64; ++i) {
        const Input& one = kept_[random_.below(kept_.size())];
        const Input& other = kept_[random_.below(kept_.size())];
        maybe_keep(mutate(one, other, size_max, random_));
      }
      alarm(watchdog_seconds);
    }
    std::printf("%zu inputs of the corpus, %zu changed ones, %zu kept, %zu edges\n", given,
                runs_ - given, kept_.size(), Coverage::edges());
  }

 private:
  void maybe_keep(Input input) {
    current_.set(input);
    Coverage::forget();
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++runs_;
    if (Coverage::count_new() == 0) return;
    if (!options_.keep.empty()) save(input);
    kept_.push_back(std::move(input));
  }

  void save(const Input& input) const {
    char name[32];
    std::snprintf(name, sizeof name, "%05zu.bin", kept_.size());
    std::ofstream file(fs::path(options_.keep) / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
    if (!file.flush()) refuse(options_.keep + ": cannot be written");
  }

  const Options& options_;
  Random random_;
  Current current_;
  std::vector<Input> kept_;
  std::size_t runs_ = 0;
};

}  // namespace
}  // namespace resprout::fuzz

int main(int argc, char** argv) {
  const auto options = resprout::fuzz::parse(argc, argv);
  alarm(resprout::fuzz::watchdog_seconds);
  resprout::fuzz::Fuzzer(options).run();
}
