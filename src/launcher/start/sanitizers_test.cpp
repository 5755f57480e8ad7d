#include "launcher/start/sanitizers.hpp"

#include "doctest/doctest.h"

using namespace resprout::launcher;

TEST_CASE("the runtimes of sanitizers come first, and each of them once") {
  CHECK(with_sanitizers_first("/a/libresprout.so", {}) == "/a/libresprout.so");
  CHECK(with_sanitizers_first("/a/libresprout.so:/b/libx.so /b/liby.so", {}) ==
        "/a/libresprout.so:/b/libx.so /b/liby.so");
  CHECK(with_sanitizers_first("/a/libresprout.so", {"libasan.so.8", "libubsan.so.1"}) ==
        "libasan.so.8:libubsan.so.1:/a/libresprout.so");
  CHECK(with_sanitizers_first("/a/libresprout.so:/g/libtsan.so", {}) ==
        "/g/libtsan.so:/a/libresprout.so");
  CHECK(with_sanitizers_first("/a/libresprout.so:/g/libasan.so.8:/b/libx.so", {"libasan.so.8"}) ==
        "/g/libasan.so.8:/a/libresprout.so:/b/libx.so");
}

TEST_CASE("what is no program asks for nothing") {
  CHECK(sanitizers_of("/dev/null").empty());
  CHECK(sanitizers_of("/etc/passwd").empty());
  CHECK(sanitizers_of("").empty());
}

TEST_CASE("a program that is not linked with a sanitizer asks for none") {
  CHECK(sanitizers_of("/proc/self/exe").empty());
}
