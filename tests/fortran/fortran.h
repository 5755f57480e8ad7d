// C that calls MPI as compiled Fortran does: addresses of everything, the error code, and behind it
// how long the strings are. As in Fortran without modules, nobody checks the arguments.
#ifndef RESPROUT_TESTS_FORTRAN_H
#define RESPROUT_TESTS_FORTRAN_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef MPI_Fint integer;
typedef MPI_Fint logical;
enum { status_integers = MPI_F_STATUS_SIZE };

// Open MPI's: only their addresses count.
extern integer mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_;
extern integer mpi_fortran_status_ignore_, mpi_fortran_statuses_ignore_,
    mpi_fortran_errcodes_ignore_;

static integer ierror;
static integer world = 0;
static integer rank = -1, size = -1;

// One line of the program's output for each thing that is wrong.
static inline void expect_(int is_right, const char* what, int line) {
  if (!is_right) printf("rank %d, line %d: not so: %s\n", rank, line, what);
}
#define expect(condition) expect_(condition, #condition, __LINE__)
// A Fortran subroutine that has to succeed. The error code comes last, so with strings it cannot.
#define call(subroutine, ...)                                          \
  do {                                                                 \
    ierror = -1;                                                       \
    subroutine(__VA_ARGS__, &ierror);                                  \
    expect_(ierror == MPI_SUCCESS, #subroutine " succeeds", __LINE__); \
  } while (0)
// The address of a number.
#define at(number) (&(integer){number})

// What the tests call.
void mpi_allgatherv_(), mpi_allreduce_(), mpi_allreduce_f08_(), mpi_allreduce_init_(),
    mpi_alltoallw_(), mpi_alltoallw_init_(), mpi_barrier_(), mpi_bcast_(), mpi_bcast_init_(),
    mpi_cart_create_(), mpi_cart_get_(), mpi_cart_shift_(), mpi_cart_sub_(), mpi_cartdim_get_(),
    mpi_comm_compare_(), mpi_comm_create_keyval_(), mpi_comm_dup_(), mpi_comm_free_(),
    mpi_comm_get_attr_(), mpi_comm_group_(), mpi_comm_idup_(), mpi_comm_rank_(),
    mpi_comm_set_attr_(), mpi_comm_set_errhandler_(), mpi_comm_size_(), mpi_comm_split_(),
    mpi_dist_graph_create_adjacent_(), mpi_error_class_(), mpi_file_delete_(), mpi_file_open_(),
    mpi_finalize_(), mpi_get_address_(), mpi_get_count_(), mpi_get_processor_name_(),
    mpi_group_size_(), mpi_iallreduce_(), mpi_ialltoallw_(), mpi_ineighbor_alltoallw_(),
    mpi_init_(), mpi_init_thread_(), mpi_iprobe_(), mpi_neighbor_allgather_(),
    mpi_neighbor_alltoallw_(), mpi_neighbor_alltoallw_init_(), mpi_irecv_(), mpi_isend_(),
    mpi_isendrecv_(), mpi_mprobe_(), mpi_mrecv_(), mpi_op_create_(), mpi_op_free_(), mpi_probe_(),
    mpi_recv_(), mpi_recv_init_(), mpi_reduce_(), mpi_request_free_(), mpi_send_(),
    mpi_send_init_(), mpi_sendrecv_(), mpi_sendrecv_f08_(), mpi_start_(), mpi_startall_(),
    mpi_testall_(), mpi_testany_(), mpi_testsome_(), mpi_type_commit_(),
    mpi_type_create_hindexed_(), mpi_type_free_(), mpi_wait_(), mpi_waitall_(), mpi_waitany_(),
    mpi_waitsome_(), mpix_comm_agree_(), mpix_comm_get_failed_(), mpix_comm_is_revoked_(),
    mpix_comm_ishrink_(), mpix_comm_revoke_(), mpix_comm_shrink_();
void mpi_file_close_(), mpi_file_get_amode_(), mpi_file_get_group_(),
    mpi_file_get_position_shared_(), mpi_file_iread_shared_(), mpi_file_read_ordered_(),
    mpi_file_read_shared_(), mpi_file_seek_shared_(), mpi_file_set_size_(), mpi_file_set_view_(),
    mpi_file_write_ordered_(), mpi_file_write_ordered_begin_(), mpi_file_write_ordered_end_();
void mpi_comm_disconnect_(), mpi_comm_spawn_(), mpi_comm_spawn_multiple_();
double mpi_wtime_();

#endif
