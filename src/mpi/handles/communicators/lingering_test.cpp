#include "mpi/handles/communicators/lingering.hpp"

#include "doctest/doctest.h"

using namespace resprout::shim;

TEST_CASE("lingering: what is freed ends once, when its last request is over and told of") {
  int left = 1;
  int ended = 0;
  linger([&] { return left > 0; }, [&] { ++ended; });
  end_lingering();
  CHECK(ended == 0);
  left = 0;
  {
    const Telling telling;
    end_lingering();
    CHECK(ended == 0);
  }
  end_lingering();
  end_lingering();
  end_all_lingering();
  CHECK(ended == 1);
}

TEST_CASE("lingering: in the end all end, those with requests too") {
  int ended = 0;
  linger([] { return true; }, [&] { ++ended; });
  end_all_lingering();
  CHECK(ended == 1);
}
