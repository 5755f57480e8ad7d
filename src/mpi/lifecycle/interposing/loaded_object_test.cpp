#include "mpi/lifecycle/interposing/loaded_object.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>

#include "doctest/doctest.h"

namespace resprout::shim {
namespace {

// Found by the loader in a library, and by its name nowhere else.
LoadedObject library_with(const char* function) {
  const void* const address = dlsym(RTLD_DEFAULT, function);
  std::vector<LoadedObject> objects = LoadedObject::all();
  const auto it = std::find_if(objects.begin(), objects.end(), [&](const LoadedObject& object) {
    return object.contains(address);
  });
  REQUIRE(it != objects.end());
  return *it;
}

}  // namespace

TEST_CASE("a loaded object defines what the loader finds in it") {
  const LoadedObject library = library_with("PMPI_Get_version");
  const LoadedObject::Functions functions = library.functions();
  CHECK(functions.at("PMPI_Get_version") == dlsym(RTLD_DEFAULT, "PMPI_Get_version"));
  CHECK(functions.contains("PMPI_Init"));
  CHECK(!functions.contains("strlen"));
}

TEST_CASE("who looks a redefined function up in its library finds the other one") {
  if (!LoadedObject::can_rewire()) return;
  LoadedObject library = library_with("PMPI_Get_version");
  void* const handle = dlopen(library.path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(handle != nullptr);
  void* const before = dlsym(handle, "PMPI_Type_size_x");
  void* const other = reinterpret_cast<void*>(&library_with);
  const auto to = [&](void* target) {
    return [=](std::string_view name) { return name == "PMPI_Type_size_x" ? target : nullptr; };
  };
  REQUIRE(library.redefine_functions(to(other)));
  CHECK(dlsym(handle, "PMPI_Type_size_x") == other);
  REQUIRE(library.redefine_functions(to(before)));
  CHECK(dlsym(handle, "PMPI_Type_size_x") == before);
  dlclose(handle);
}

}  // namespace resprout::shim
