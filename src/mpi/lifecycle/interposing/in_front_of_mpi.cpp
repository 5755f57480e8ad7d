// Resprout stands directly in front of the MPI library, wherever that was loaded. Calls of MPI_X
// come to Resprout first, and so do the calls of PMPI_X that a tool makes. A program that is no
// tool and calls PMPI_X reaches the library. So three more kinds of programs are protected:
//
// 1. Programs that look up MPI's functions in the library itself (dlopen with RTLD_LOCAL and dlsym,
//    as Julia and ctypes do, RTLD_DEEPBIND): its symbol table names ours.
// 2. Tools that stand in for MPI_X and call PMPI_X, preloaded in any order or linked: the program's
//    calls go to the tool, and the tool's to ours.
// 3. Programs in Fortran that `use mpi_f08` of MPICH: half of that module calls PMPI_X.
//
// The loader's order alone has a preloaded library of ours come before a tool that is linked, and
// has the tool's PMPI_X go past us. It is put right once, when this library is loaded. Where it
// cannot be (another processor, a system that does not let a process change what it has loaded)
// everything is as the loader has it.
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpi/lifecycle/interposing/loaded_object.hpp"

namespace resprout::shim {
namespace {

using Functions = LoadedObject::Functions;

bool is_name_of_mpi(std::string_view name) {
  return name.starts_with("MPI_") || name.starts_with("MPIX_") || name.starts_with("mpi_") ||
         name.starts_with("mpix_");
}

void* found_in(const Functions& functions, std::string_view name) {
  const auto it = functions.find(name);
  return it == functions.end() ? nullptr : it->second;
}

// The MPI library, and what belongs to it: its forms for Fortran.
bool is_of_mpi(const LoadedObject& object) {
  const std::string_view path = object.path();
  return path.substr(path.rfind('/') + 1).starts_with("libmpi");
}

// Whether forms for Fortran call PMPI_X where the program means MPI_X. Those of Open MPI all do,
// but Resprout has forms of its own in front of them.
#if defined(OPEN_MPI)
constexpr bool do_forms_pass_us = false;
#else
constexpr bool do_forms_pass_us = true;
#endif

struct Rewiring {
  std::vector<LoadedObject> objects = LoadedObject::all();
  const LoadedObject* own = nullptr;
  const LoadedObject* library = nullptr;
  Functions ours;            // that are MPI's
  Functions of_library;      // all of them
  Functions of_tools;        // ours that a tool stands in for, too: the first one that does
  Functions below_of_tools;  // PMPI_X, where a tool defines even these

  void look_around() {
    for (const LoadedObject& object : objects) {
      if (object.contains(reinterpret_cast<const void*>(&is_name_of_mpi))) own = &object;
    }
    if (own == nullptr) return;
    for (const auto& [name, address] : own->functions())
      if (is_name_of_mpi(name)) ours.emplace(name, address);
    for (const LoadedObject& object : objects) {
      if (&object == own) continue;
      const Functions functions = object.functions();
      if (library == nullptr && is_of_mpi(object) && functions.contains("PMPI_Init")) {
        library = &object;
        of_library = functions;
      } else if (!is_of_mpi(object)) {
        note_tool(functions);
      }
    }
  }

  void note_tool(const Functions& functions) {
    for (const auto& [name, address] : functions) {
      if (ours.contains(name)) of_tools.emplace(name, address);
      if (name.starts_with("PMPI")) below_of_tools.emplace(name, address);
    }
  }

  // PMPI_X: what stands in front of the library's.
  void* below(std::string_view name) const {
    if (!name.starts_with("PMPI")) return nullptr;
    void* found = found_in(below_of_tools, name);
    return found != nullptr ? found : found_in(ours, name.substr(1));
  }

  bool is_tool(const Functions& defined) const {
    for (const auto& [name, address] : defined)
      if (ours.contains(name)) return true;
    return false;
  }

  // For those who use MPI. `defined`: what the object itself defines; a tool calls on as it likes.
  void* above(std::string_view name, const Functions& defined) const {
    if (void* found = below(name))
      return is_tool(defined) && !defined.contains(name) ? found : nullptr;
    return defined.contains(name) ? nullptr : found_in(of_tools, name);
  }
};

[[gnu::constructor]] void stand_in_front_of_mpi() {
  if (!LoadedObject::can_rewire()) return;
  Rewiring wiring;
  wiring.look_around();
  if (wiring.library == nullptr) return;
  // These two go on calling the library, whatever its table names.
  const auto past_us = [&](std::string_view name) -> void* {
    return name.starts_with("PMPI") ? found_in(wiring.of_library, name) : nullptr;
  };
  for (LoadedObject& object : wiring.objects) {
    if (&object == wiring.own || &object == wiring.library) {
      object.redirect_calls(past_us);
    } else {
      const Functions defined = object.functions();
      const bool is_of_forms = do_forms_pass_us && is_of_mpi(object);
      object.redirect_calls([&](std::string_view name) {
        return is_of_forms ? wiring.below(name) : wiring.above(name, defined);
      });
    }
  }
  for (LoadedObject& object : wiring.objects)
    if (&object == wiring.library)
      object.redefine_functions([&](std::string_view name) { return found_in(wiring.ours, name); });
}

}  // namespace
}  // namespace resprout::shim
