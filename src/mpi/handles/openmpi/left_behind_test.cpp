#include "mpi/handles/openmpi/left_behind.hpp"

#include <filesystem>
#include <fstream>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout::shim;

TEST_CASE("the names of a job are in those of its segments") {
  const auto line = [](const std::string& path) {
    return "7f0 rw-s 0000 00:1a 5 /lib/libc.so\n7f1 rw-s 0000 00:1b 9    " + path + "\n7f2 rw-p\n";
  };
  CHECK(job_names_in(line("/dev/shm/sm_segment.vm.0.396d0001.3")) == JobNames{"vm", "396d0001"});
  CHECK(job_names_in(line("/dev/shm/a/sm_segment.n1.site.org.1000.5f0001.0 (deleted)")) ==
        JobNames{"n1.site.org", "5f0001"});
  CHECK_FALSE(job_names_in(line("/dev/shm/something")));
  CHECK_FALSE(job_names_in(line("/dev/shm/sm_segment.")));
  CHECK_FALSE(job_names_in(""));
}

TEST_CASE("only files of the dead of this job are removed") {
  const resprout::runtime::testing::ScratchFolder folder;
  const auto path = [&](const std::string& name) { return folder.path() + "/" + name; };
  const std::string kept[] = {"osc_sm.vm.396d0001.1.5", "osc_sm.vm.396d0001.12.5",
                              "osc_sm.vm.396d0002.2.5", "osc_sm.vn.396d0001.2.5",
                              "osc_rdma.vm.396d0001.5.2"};
  const std::string gone[] = {"osc_sm.vm.396d0001.2.5", "osc_sm.vm.396d0001.2.6",
                              "osc_sm.vm.396d0001.0.73"};
  for (const auto& name : kept) std::ofstream(path(name)) << "x";
  for (const auto& name : gone) std::ofstream(path(name)) << "x";
  remove_window_files(folder.path(), {"vm", "396d0001"}, {0, 2});
  for (const auto& name : kept) CHECK(std::filesystem::exists(path(name)));
  for (const auto& name : gone) CHECK_FALSE(std::filesystem::exists(path(name)));
  remove_window_files(folder.path() + "/nowhere", {"vm", "396d0001"}, {0, 2});
}
