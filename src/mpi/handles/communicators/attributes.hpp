// Attributes and the rest of what a program hangs on a handle, for handles that MPI neither
// duplicates nor frees: those of derived communicators are made in MPI_Init and used again.
//
// MPI keeps the attributes; which ones there are, and how their keys are to be copied, it does not
// tell. So the calls that say it are watched.
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <functional>

namespace resprout::shim {

// Copies the attribute of `key` as its copy function says, if `from` has it: an MPI error code.
using CopyAttribute = std::function<int(MPI_Comm from, MPI_Comm to, int key)>;

// There is such a key, such an attribute.
void note_key(int key, CopyAttribute copy);
void note_attribute(MPI_Comm comm, int key);

// Who has the attribute of `key` that `comm` has. Those of MPI itself (MPI_TAG_UB) are the world's:
// no handle of a derived communicator bears them, and programs look for them on their duplicates.
MPI_Comm bearer_of(MPI_Comm comm, int key);

// A library has made a duplicate of `of` for itself: its handle stands in what it has hung on `of`
// as an attribute. So the program waits for nobody there who has not called the library's function,
// too. `handle`: where that was to be written.
bool is_made_for_library(MPI_Comm of, const MPI_Comm* handle);

// As MPI_Comm_dup has it: attributes by their copy functions. What those return.
int copy_attributes(MPI_Comm from, MPI_Comm to);
// As MPI_Comm_free has it: attributes by their delete functions. What those return.
int delete_attributes(MPI_Comm comm);
// MPI itself has made `to` of `from`, and has copied attributes.
void note_copied_attributes(MPI_Comm from, MPI_Comm to);

}  // namespace resprout::shim
