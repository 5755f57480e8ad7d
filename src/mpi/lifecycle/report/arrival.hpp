// Tells the launcher who is in MPI_Init, which bears no loss, and when all are through.
//
// Files of the run directory: a rank leaves entered-<rank>, and missed-<rank> of one that others
// have lost meanwhile; the launcher has made `starting`, which goes when all have what they need of
// each other. A launcher that sees no such folder is told nothing. Thread rule: MPI_Init's, but for
// `note_lost`.
#pragma once

namespace resprout::shim {

// From here on this process waits for the others.
void note_entered();
// Whoever ends before all are in may end because of this one. Any thread, after `note_entered`.
void note_lost(int rank);
// Nobody waits for anybody any more. REQUIRES: one process says so, before any leaves MPI_Init.
void note_all_in();

}  // namespace resprout::shim
