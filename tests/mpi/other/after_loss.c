/* What a call does that needs a lost process, or is made by those who are left:
 *
 *   after_loss CALL FILE          of three ranks, with --on-loss continue
 *
 * Rank 1 is killed when everybody is ready. The others call CALL and say what it returned.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;
static int values[8], mine[8];
static MPI_Comm cart, spare;
static MPI_Win window;

static int wait_for(int code, MPI_Request* request) {
  return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static int neighbors(int is_started) {
  MPI_Request request;
  if (!is_started) return MPI_Neighbor_allgather(mine, 1, MPI_INT, values, 1, MPI_INT, cart);
  int code = MPI_Ineighbor_allgather(mine, 1, MPI_INT, values, 1, MPI_INT, cart, &request);
  return wait_for(code, &request);
}

static int matched(void) {
  MPI_Message message;
  return MPI_Mprobe(1, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
}

static int duplicated(void) {
  MPI_Comm made;
  MPI_Request request;
  return wait_for(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request), &request);
}

static int spawned(void) {
  MPI_Comm children;
  return MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                        MPI_ERRCODES_IGNORE);
}

static int shared(void) {
  int* memory;
  MPI_Win made;
  return MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &made);
}

static int written(const char* path) {
  MPI_File file;
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  int code = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) return code;
  code = MPI_File_write_at_all(file, rank * 4L, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  const int end = MPI_File_close(&file);
  return code != MPI_SUCCESS ? code : end;
}

static int summed(void) {
  MPI_Request request;
  int code = MPI_Iallreduce(mine, values, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  return wait_for(code, &request);
}

static int call(const char* name, const char* path) {
  MPI_Request request;
  MPI_Comm made;
  if (strcmp(name, "recv") == 0)
    return MPI_Recv(values, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(name, "irecv") == 0)
    return wait_for(MPI_Irecv(values, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request), &request);
  if (strcmp(name, "ssend") == 0) return MPI_Ssend(mine, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  if (strcmp(name, "mprobe") == 0) return matched();
  if (strcmp(name, "neighbor_allgather") == 0) return neighbors(0);
  if (strcmp(name, "ineighbor_allgather") == 0) return neighbors(1);
  if (strcmp(name, "comm_dup") == 0) return MPI_Comm_dup(MPI_COMM_WORLD, &made);
  if (strcmp(name, "comm_idup") == 0) return duplicated();
  if (strcmp(name, "comm_free") == 0) return MPI_Comm_free(&spare);
  if (strcmp(name, "comm_spawn") == 0) return spawned();
  if (strcmp(name, "win_allocate_shared") == 0) return shared();
  if (strcmp(name, "gather") == 0)
    return MPI_Gather(mine, 1, MPI_INT, values, 1, MPI_INT, 2, MPI_COMM_WORLD);
  if (strcmp(name, "iallreduce") == 0) return summed();
  if (strcmp(name, "win_fence") == 0) return MPI_Win_fence(0, window);
  if (strcmp(name, "file_write") == 0) return written(path);
  return MPI_Allreduce(mine, values, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static const char* named(int code) {
  int is_class = MPI_ERR_LASTCODE;
  if (code == MPI_SUCCESS) return "success";
  MPI_Error_class(code, &is_class);
  if (is_class == MPI_ERR_SPAWN) return "nobody starts processes";
  return is_class == MPIX_ERR_PROC_FAILED ? "a process is lost" : "another error";
}

int main(int argc, char** argv) {
  int count = 0;
  const int all = 3, is_ring = 1;
  int* memory;
  MPI_Group lost;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &all, &is_ring, 0, &cart);
  MPI_Comm_dup(MPI_COMM_WORLD, &spare);
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) raise(SIGKILL);
  while (count == 0) {
    MPIX_Comm_get_failed(MPI_COMM_WORLD, &lost);
    MPI_Group_size(lost, &count);
    MPI_Group_free(&lost);
    usleep(1000);
  }
  char line[64];
  const int length = snprintf(line, sizeof line, "%s\n", named(call(argv[1], argv[2])));
  if (write(STDOUT_FILENO, line, length) != length) return 1;  // in one piece
  MPI_Finalize();
  return 0;
}
