#include "runtime/replicas/returns.hpp"

#include <filesystem>
#include <fstream>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout::runtime;

TEST_CASE("returns: who has its run directory in the job's folder is there for the first time") {
  CHECK(return_of_discovery("/run/resprout-7") == 0);
  CHECK(job_of_discovery("/run/resprout-7") == "/run/resprout-7");
  CHECK(return_of_discovery("/run/return-x") == 0);
  CHECK(return_of_discovery("/run/resprout-7/return-12") == 12);
  CHECK(job_of_discovery("/run/resprout-7/return-12") == "/run/resprout-7");
  CHECK(discovery_of_return("/run/resprout-7", 12) == "/run/resprout-7/return-12");
}

TEST_CASE("returns: a plane waits to be taken in when it has left its addresses") {
  const testing::ScratchFolder job;
  CHECK_FALSE(waiting_return(job.path(), 0, 3));
  job.put("return-1/returns-2");
  job.put("returning", "1\n");
  CHECK(comes_back(job.path() + "/return-1", 2));
  CHECK_FALSE(comes_back(job.path() + "/return-1", 1));
  CHECK_FALSE(waiting_return(job.path(), 0, 3));
  job.put("return-1/addresses-2");
  CHECK(waiting_return(job.path(), 0, 3) == Return{1, 2});
}

TEST_CASE("returns: who was taken in, or is over, waits no more") {
  const testing::ScratchFolder job;
  job.put("return-1/returns-0");
  job.put("return-1/addresses-0");
  job.put("returning", "1\n");
  CHECK_FALSE(waiting_return(job.path(), 1, 2));
  job.put("return-1/ended-0");
  CHECK_FALSE(waiting_return(job.path(), 0, 2));
  job.put("return-2/returns-0");
  job.put("return-2/addresses-0");
  job.put("returning", "2\n");
  CHECK(waiting_return(job.path(), 1, 2) == Return{2, 0});
}

TEST_CASE("returns: what is said about checkpoints and joining can be read") {
  const testing::ScratchFolder job;
  say_that_there_are_checkpoints(job.path());
  CHECK(std::filesystem::exists(job.path() + "/has-checkpoints"));
  job.put("return-1/returns-0");
  CHECK(is_coming_back(job.path() + "/return-1", 0));
  CHECK_FALSE(are_files_given(job.path() + "/return-1"));
  say_files_given(job.path() + "/return-1");
  CHECK(are_files_given(job.path() + "/return-1"));
  say_joined(job.path() + "/return-1", 17);
  std::string text;
  std::getline(std::ifstream(job.path() + "/return-1/joined") >> std::ws, text);
  CHECK(text == "17");
  CHECK_FALSE(is_coming_back(job.path() + "/return-1", 0));
  say_joined(job.path() + "/nowhere", 17);
  CHECK_FALSE(std::filesystem::exists(job.path() + "/nowhere"));
}
