#include "mpi/policies/files/shadows.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/policies/files/copy.hpp"
#include "mpi/policies/files/file_note.hpp"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout::shim;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

// A job of three planes, and a folder of the program.
class Job {
 public:
  Job() {
    for (const char* folder : {"job-7/plane-0", "job-7/plane-1", "job-7/plane-2", "data"})
      fs::create_directories(root_ / folder);
  }

  Shadows plane(int replica) const {
    return Shadows({(root_ / "job-7" / ("plane-" + std::to_string(replica))).string(), replica, 3});
  }
  std::string file(const std::string& name = "out") const {
    return (root_ / "data" / name).string();
  }
  std::string note(const std::string& name = "out") const {
    return contents(root_ / "job-7" / "files" / (digits_of(file(name)) + ".json"));
  }
  const fs::path& root() const { return root_; }

 private:
  const resprout::runtime::testing::ScratchFolder folder_;
  const fs::path root_ = folder_.path();
};

}  // namespace

TEST_CASE("plane 0 writes the program's file, each other plane a copy that tells whose it is") {
  const Job job;
  write(job.file(), "before");
  CHECK(job.plane(0).to_write(job.file()).path.empty());
  const Shadows::Place place = job.plane(2).to_write(job.file());
  CHECK(place.path == job.file() + ".job-7-replica-2");
  CHECK(contents(place.path) == "before");
  CHECK(job.plane(1).to_write(job.file()).path == job.file() + ".job-7-replica-1");
}

TEST_CASE("shadows are what the file was before anybody wrote it, whoever comes first") {
  const Job job;
  write(job.file(), "before");
  CHECK(job.plane(0).to_write(job.file()).error == 0);
  write(job.file(), "written by plane 0");
  CHECK(contents(job.plane(1).to_write(job.file()).path) == "before");
  write(job.file() + ".job-7-replica-1", "written by plane 1");
  CHECK(contents(job.plane(1).to_write(job.file()).path) == "written by plane 1");
  CHECK(contents(job.plane(2).to_read(job.file()).path) == "before");
}

TEST_CASE("a file that nobody writes is read where it is") {
  const Job job;
  write(job.file(), "input");
  for (const int replica : {0, 1, 2}) CHECK(job.plane(replica).to_read(job.file()).path.empty());
  CHECK(job.plane(1).to_write(job.file()).error == 0);
  CHECK(job.plane(0).to_read(job.file()).path.empty());
  CHECK_FALSE(job.plane(2).to_read(job.file()).path.empty());
}

TEST_CASE("of a file that is not there yet there is no copy, and all its names are one") {
  const Job job;
  fs::create_symlink(job.root() / "data", job.root() / "link");
  const std::string other = (job.root() / "link" / "out").string();
  const Shadows::Place place = job.plane(1).to_write(other);
  CHECK(place.path == job.file() + ".job-7-replica-1");
  CHECK_FALSE(fs::exists(place.path));
  CHECK(job.plane(1).to_read(job.file()).path == place.path);
}

TEST_CASE("a link stays one: what it names has the shadow") {
  const Job job;
  write(job.file("real"), "before");
  fs::create_symlink(job.file("real"), job.file("name"));
  CHECK(job.plane(1).to_write(job.file("name")).path == job.file("real") + ".job-7-replica-1");
}

TEST_CASE("what is no file has no shadow, nor what is in no folder") {
  const Job job;
  for (const std::string& name :
       {std::string("/dev/null"), job.file("nowhere/out"), job.file() + "/", job.root().string()}) {
    CAPTURE(name);
    CHECK(job.plane(1).to_write(name).path.empty());
    CHECK(job.plane(1).to_write(name).error == 0);
  }
}

TEST_CASE("a name that is too long for more is shortened") {
  const Job job;
  const std::string name(250, 'x');
  const Shadows::Place place = job.plane(1).to_write(job.file(name));
  CHECK(place.path == job.file(digits_of(job.file(name))) + ".job-7-replica-1");
}

TEST_CASE("who cannot make them says so to all planes, and leaves none behind") {
  const Job job;
  write(job.file(), "before");
  fs::create_directory(job.file() + ".job-7-replica-2");
  CHECK(job.plane(0).to_write(job.file()).error == EISDIR);
  fs::remove(job.file() + ".job-7-replica-2");
  CHECK(job.plane(1).to_write(job.file()).error == EISDIR);
  CHECK(job.plane(1).to_read(job.file()).path.empty());
  CHECK_FALSE(fs::exists(job.file() + ".job-7-replica-1"));
}

TEST_CASE("who died at it is forgotten") {
  const Job job;
  write(job.file(), "before");
  {
    FileNote(job.root() / "job-7" / "files", job.file()).begin(job.file(), {"of another"});
  }
  write(job.file() + ".job-7-replica-1", "half and too long");
  CHECK(contents(job.plane(1).to_write(job.file()).path) == "before");
  CHECK(job.note().find("of another") == std::string::npos);
}

TEST_CASE("the note says what there is, and what has become of it") {
  const Job job;
  const Shadows plane = job.plane(1);
  CHECK(plane.to_write(job.file("a %")).error == 0);
  plane.note_opened(job.file("a %"));
  plane.note_opened(job.file("a %"));
  job.plane(2).note_opened(job.file("a %"));
  plane.note_opened(job.file("a %"));
  plane.note_deleted(job.file("a %"));
  plane.note_opened(job.file("a %"));
  std::string expected = R"({"file":"FILE","shadows":["FILE.job-7-replica-1",)"
                         "\"FILE.job-7-replica-2\"]}\n{\"is\":\"made\"}\n"
                         "{\"is\":\"opened\",\"replica\":1}\n"
                         "{\"is\":\"opened\",\"replica\":2}\n"
                         "{\"is\":\"deleted\",\"replica\":1}\n"
                         "{\"is\":\"opened\",\"replica\":1}\n";
  for (std::size_t at = 0; (at = expected.find("FILE")) != std::string::npos;)
    expected.replace(at, 4, job.file("a%20%25"));
  CHECK(job.note("a %") == expected);
}

TEST_CASE("a plane that comes back is given what another one has, in its place") {
  const Job job;
  for (const char* name : {"out", "with \"quotes\" %41", "gone"}) {
    write(job.file(name), "before");
    for (int replica = 0; replica < 3; ++replica) {
      const Shadows::Place place = job.plane(replica).to_write(job.file(name));
      write(place.path.empty() ? job.file(name) : place.path, "by " + std::to_string(replica));
    }
  }
  const std::string own = job.plane(2).to_write(job.file("gone")).path;
  fs::remove(own);
  const std::ifstream open_before(job.plane(1).to_write(job.file()).path);
  CHECK(job.plane(2).give_all(1) == 0);
  for (const char* name : {"out", "with \"quotes\" %41"})
    CHECK(contents(job.plane(1).to_write(job.file(name)).path) == "by 2");
  CHECK_FALSE(fs::exists(job.plane(1).to_write(job.file("gone")).path));
  CHECK(job.note("gone").ends_with("{\"is\":\"deleted\",\"replica\":1}\n"));
  std::ostringstream text;
  text << open_before.rdbuf();
  CHECK(text.str() == "by 2");

  CHECK(job.plane(2).give_all(0) == 0);
  CHECK(contents(job.file()) == "by 2");
  CHECK_FALSE(fs::exists(job.file("gone")));
}

TEST_CASE("where no file was written there is none to give") {
  const Job job;
  CHECK(job.plane(0).give_all(1) == 0);
}

TEST_CASE("who comes back may make what it has made before, until it is there") {
  const Job job;
  CHECK_FALSE(job.plane(1).to_write(job.file()).was_made);
  CHECK_FALSE(job.plane(1).to_write(job.file()).was_made);
  const fs::path discovery = job.root() / "job-7" / "return-1";
  fs::create_directories(discovery / "plane-1");
  write(discovery / "returns-1", "");
  const Shadows back({(discovery / "plane-1").string(), 1, 3});
  CHECK(back.to_write(job.file()).was_made);
  CHECK(back.to_write(job.file()).path == job.plane(1).to_write(job.file()).path);
  CHECK_FALSE(back.to_write(job.file("other")).was_made);
  write(discovery / "joined", "4\n");
  CHECK_FALSE(back.to_write(job.file()).was_made);
}

TEST_CASE("many at once make them once") {
  const Job job;
  write(job.file(), std::string(100000, 'b'));
  std::vector<std::thread> planes;
  for (int i = 0; i < 12; ++i)
    planes.emplace_back([&job, replica = i % 3] {
      const Shadows::Place place = job.plane(replica).to_write(job.file());
      write(place.path.empty() ? job.file() : place.path, "written");
    });
  for (std::thread& plane : planes) plane.join();
  CHECK(contents(job.file()) == "written");
  CHECK(contents(job.file() + ".job-7-replica-1") == "written");
  CHECK(contents(job.file() + ".job-7-replica-2") == "written");
}

TEST_CASE("a copy has all bytes and the mode, and is as long as the file") {
  const Job job;
  std::string bytes;
  for (int i = 0; i < 300000; ++i) bytes += static_cast<char>(i * i % 251);
  write(job.file("from"), bytes);
  ::chmod(job.file("from").c_str(), 0640);
  write(job.file("to"), bytes + bytes);
  CHECK(copy_file(job.file("from"), job.file("to")) == 0);
  CHECK(contents(job.file("to")) == bytes);
  CHECK(fs::status(job.file("to")).permissions() == fs::perms{0640});
  CHECK(copy_file(job.file("none"), job.file("to")) == ENOENT);
  // That says of itself that it is empty.
  CHECK(copy_file("/proc/self/status", job.file("to")) == 0);
  CHECK(contents(job.file("to")).find("Pid:") != std::string::npos);
}

TEST_CASE("a plane is behind where a rank has done in another one what it has not in this one") {
  const Job job;
  constexpr int writer = 3;
  for (const int replica : {0, 1, 2}) {
    CHECK(job.plane(replica).to_write(job.file()).error == 0);
    job.plane(replica).note_begun(job.file(), writer, 1);
  }
  job.plane(0).note_closed(job.file(), writer, 1);
  CHECK_FALSE(job.plane(0).is_behind(job.file(), writer));
  CHECK(job.plane(1).is_behind(job.file(), writer));
  CHECK_FALSE(job.plane(1).is_behind(job.file(), writer + 1));
  CHECK_FALSE(job.plane(1).is_behind(job.file("other"), writer));
  for (int times = 0; times < 2; ++times) job.plane(1).note_closed(job.file(), writer, 1);
  CHECK_FALSE(job.plane(0).is_behind(job.file(), writer));
  CHECK_FALSE(job.plane(1).is_behind(job.file(), writer));
  job.plane(1).note_removed(job.file(), writer, 2);
  CHECK(job.plane(0).is_behind(job.file(), writer));
}

TEST_CASE("what a rank has removed alone can be removed for it, what it has written cannot") {
  const Job job;
  constexpr int writer = 3;
  for (const int replica : {0, 1}) CHECK(job.plane(replica).to_write(job.file()).error == 0);
  const std::string shadow = job.plane(1).to_write(job.file()).path;
  write(shadow, "old");
  job.plane(0).note_closed(job.file(), writer, 1);
  job.plane(0).note_removed(job.file(), writer, 2);
  job.plane(0).note_closed(job.file(), writer, 3);
  CHECK_FALSE(job.plane(1).catch_up(job.file(), writer, 0).is_behind);
  CHECK(job.plane(1).catch_up(job.file(), writer, 1).is_behind);
  CHECK(fs::exists(shadow));
  CHECK_FALSE(job.plane(1).catch_up(job.file(), writer, 2).is_behind);
  CHECK_FALSE(fs::exists(shadow));
  write(shadow, "new");
  CHECK_FALSE(job.plane(1).catch_up(job.file(), writer, 2).is_behind);
  CHECK(contents(shadow) == "new");
  CHECK(job.plane(1).catch_up(job.file(), writer, 3).is_behind);
  CHECK(job.plane(1).is_behind(job.file(), writer));
}
