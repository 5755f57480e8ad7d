// The files that planes of replicas write through MPI: plane 0 writes the program's own, each other
// plane a shadow of its own beside it. When the job is over the launcher puts the shadows of the
// plane that counts in the place of the files, if that is not plane 0, and removes the others
// (docs/explanation/adr/017-files-of-planes.md).
//
// 1. Before anybody in the job writes or deletes a file all planes have their shadows, copies of
//    what it was then. The first plane that comes makes them, so planes need not be equally far.
// 2. A shadow's name says the file's, the job's and the plane's. Its folder is the file's, where
//    there is room for it and a rename puts it in its place.
//
// Thread rule: from any thread of any process of the job.
#pragma once

#include <cstdint>
#include <string>

namespace resprout::shim {

class Shadows {
 public:
  struct Setup {
    std::string run_directory;  // of the plane
    int replica = 0;
    int replicas = 1;
  };
  explicit Shadows(Setup setup);

  // Where this plane has it. `error`: errno; nobody in the job gets further then.
  struct Place {
    std::string path;  // empty: there where the program says
    int error = 0;
    bool was_made = false;  // to a plane that comes back: it has been written before
  };
  // For who reads the file that the program calls `name`, and for who writes or deletes it.
  Place to_read(const std::string& name) const;
  Place to_write(const std::string& name) const;
  // This plane has opened its shadow to write, or it is gone or will go when it is closed.
  void note_opened(const std::string& name) const { note(name, "opened"); }
  void note_deleted(const std::string& name) const { note(name, "deleted"); }
  // Where siblings stand in. What ranks should have written that this plane has lost is not in it.
  void note_unfilled(const std::string& name) const { note(name, "unfilled"); }
  // It was opened to be written, was closed, or removed. `rank`: the one in the world that has done
  // so alone, or FileNote::several. `of`: tells it from other times, the same in all planes.
  void note_begun(const std::string& name, int rank, std::uint64_t of) const;
  void note_closed(const std::string& name, int rank, std::uint64_t of) const;
  void note_removed(const std::string& name, int rank, std::uint64_t of) const;
  // In another plane this rank, alone, has closed or removed what it has not in this one: what is
  // here may be old.
  bool is_behind(const std::string& name, int rank) const;
  // The same of its times up to that one. Where the last of these was a removal, it is removed
  // here, and nothing is behind. 0, or errno.
  struct CatchUp {
    bool is_behind = false;
    int error = 0;
  };
  CatchUp catch_up(const std::string& name, int rank, std::uint64_t up_to) const;
  // The path by which all know the file that the program calls `name`; `name` if there is none.
  static std::string known_as(const std::string& name);

  // What is beside the job's files and no shadow has this in its name, between a dot and a dash:
  // the launcher removes it.
  const std::string& job() const { return job_; }

  // Makes all files of that plane what those of this one are, in their places: it has come back.
  // 0, or errno. REQUIRES: neither plane writes meanwhile.
  int give_all(int replica) const;

 private:
  std::string shadow_of(const std::string& path, int replica) const;
  bool was_made(const std::string& path) const;
  int make(const std::string& path) const;
  void note(const std::string& name, const char* what) const;
  void note(const std::string& name, const char* what, int rank, std::uint64_t of) const;

  Setup setup_;
  std::string discovery_;  // the folder around the plane's run directory
  std::string job_;        // the name of the job's
  std::string folder_;     // for notes
};

}  // namespace resprout::shim
