/* What a program can ask Resprout, beyond MPI.
 *
 * All functions are declared weak: a program that uses this header also runs without Resprout,
 * where they are null:
 *
 *     if (resprout_contributors) resprout_contributors(MPI_COMM_WORLD, &group);
 *
 * They return MPI_SUCCESS or an error code, through the communicator's error handler, as MPI does.
 */
#ifndef RESPROUT_H
#define RESPROUT_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whose data are in the result of the last collective operation that this process has called on
 * `comm`. Of a reduction or a barrier these are all who were not left out, of a broadcast or a
 * scatter it is the root. A non-blocking operation counts when it is over, which may be before the
 * program is told. What makes communicators of `comm` is an operation, too; of MPI_COMM_WORLD so is
 * MPI_Init.
 *
 * The group is empty if that operation had no result, or if there was none yet. On a communicator
 * of one process it is always that process. The caller frees the group.
 *
 * All processes that an operation gave a result to are told the same. Of a gather, or a reduction
 * to one, that is the root alone. Of a scan a process is told of a loss only if it should have got
 * data of the lost one. Call it from the thread that called the operation, or after it.
 * MPI_ERR_COMM if `comm` is of two groups. */
int resprout_contributors(MPI_Comm comm, MPI_Group* group) __attribute__((weak));

/* A function that gives what stands in for the contribution of `rank` (in `comm`), which is missing
 * in a reduction, a scan, MPI_Gather or MPI_Allgather. It writes `count` elements of `datatype` to
 * `contribution`, laid out as in a send buffer, and returns 1. It may also write between their
 * parts, and up to the upper bound of the last one. If it returns 0, nothing stands in.
 *
 * It is called during the operation, on every process that may use it, for every rank that is
 * missing, in ascending order. It must write the same everywhere. It must not communicate, nor call
 * the functions of this header. */
typedef int resprout_stand_in(MPI_Comm comm, int rank, void* contribution, int count,
                              MPI_Datatype datatype, void* extra);

/* Has `function` give what stands in for missing contributions on `comm`, in the place of what
 * RESPROUT_MISSING says; null: no longer. It holds for operations that begin from now on, of
 * persistent ones for those that are started. All processes of `comm` call this between the same
 * two operations. MPI_ERR_COMM if it is of two groups. */
int resprout_on_missing(MPI_Comm comm, resprout_stand_in* function, void* extra)
    __attribute__((weak));

/* Has checkpoints keep `bytes` bytes from `begin` on, from now on; 0: no longer. Of memory that is
 * protected already `bytes` is the new size. Protect everything that the program changes from one
 * checkpoint to the next, its loop counters too, in the same order in all replicas. It has to stay
 * where it is. */
int resprout_protect(void* begin, size_t bytes) __attribute__((weak));

/* Keeps what is protected. Or it puts back what the last checkpoint has kept, and the program does
 * its work since then again. It does so where `resprout run --verify` has found that this replica
 * has worked with wrong data since then, or that one has and nobody can tell which. So a program
 * calls this at one place, in the loop in which it goes back:
 *
 *     resprout_protect(&step, sizeof step);
 *     resprout_protect(field, bytes);
 *     for (;;) {
 *       resprout_checkpoint();
 *       if (step == steps) break;
 *       advance(field);
 *       ++step;
 *     }
 *
 * A replica that was lost and is started again has here what the others have protected.
 *
 * A job that is started again after a loss (`resprout run --on-loss restart`) keeps it in memory
 * that outlives the process. Its first call after the new start puts back the last checkpoint that
 * all ranks have. If there is none, it is a checkpoint like any other. What is protected by then
 * has to have the sizes that it had, in the same order (docs/how-to/checkpoints.md).
 *
 * Collective over MPI_COMM_WORLD. With replicas it waits until what was received is known to be
 * right, or wrong. Without replicas, and without --on-loss restart, it does nothing.
 * MPI_ERR_PENDING, where messages are verified: one that was sent has not been received, or a
 * receive is not complete; nothing was kept. MPI_ERR_NO_MEM: there is no room for it; the last one
 * is still there. docs/how-to/replica-checkpoints.md. */
int resprout_checkpoint(void) __attribute__((weak));

/* ULFM's functions (MPIX_Comm_revoke, ..._shrink, ..._agree, ...), for programs that repair their
 * communicators themselves: docs/how-to/ulfm.md. Open MPI declares its own in <mpi-ext.h>; under
 * Resprout the same names are Resprout's. */
#if defined(OPEN_MPI) && defined(__has_include)
#  if __has_include(<mpi-ext.h>)
#    include <mpi-ext.h>
#  endif
#endif
#if !defined(OMPI_HAVE_MPI_EXT_FTMPI) || !OMPI_HAVE_MPI_EXT_FTMPI
int MPIX_Comm_revoke(MPI_Comm comm) __attribute__((weak));
int MPIX_Comm_is_revoked(MPI_Comm comm, int* flag) __attribute__((weak));
int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failedgrp) __attribute__((weak));
int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked) __attribute__((weak));
int MPIX_Comm_failure_ack(MPI_Comm comm) __attribute__((weak));
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failedgrp) __attribute__((weak));
int MPIX_Comm_agree(MPI_Comm comm, int* flag) __attribute__((weak));
int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request) __attribute__((weak));
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm) __attribute__((weak));
#endif
/* Not every mpi-ext.h has it. */
int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
