/* What nobody may do with handles, and some things that look like it and are right. All ranks do
 * the same; messages go from each rank to itself. Each has undone what it began, and gives the code
 * of the call in question. */
#ifndef MISUSED_HANDLES_H
#define MISUSED_HANDLES_H

enum { many = 40, few = 3 };

static MPI_Request receive_from_self(int count) {
  MPI_Request request;
  MPI_Irecv(got, count, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
  return request;
}

static void send_to_self(int count) { MPI_Send(given, count, MPI_INT, 0, 5, MPI_COMM_SELF); }

static MPI_Request persistent_receive(void) {
  MPI_Request request;
  MPI_Recv_init(got, few, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
  return request;
}

static MPI_Request sum_of_all(int form) {
  MPI_Request request;
  if (form == 1)
    MPI_Iallreduce(given, got, 1, MPI_INT, MPI_SUM, usual, &request);
  else
    MPI_Allreduce_init(given, got, 1, MPI_INT, MPI_SUM, usual, MPI_INFO_NULL, &request);
  return request;
}

static void finish(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

static int use_requests(const char* name) {
  MPI_Request request = MPI_REQUEST_NULL, copy;
  MPI_Status status;
  int code = -1, flag;
#define MISUSE(text) if (strcmp(name, text) == 0)
  MISUSE("wait_twice") {
    request = receive_from_self(few), send_to_self(few), finish(&request);
    code = MPI_Wait(&request, &status);
  }
  MISUSE("free_active") {
    request = receive_from_self(few);
    code = MPI_Request_free(&request), send_to_self(few);
  }
  MISUSE("free_null") code = MPI_Request_free(&request);
  MISUSE("start_null") code = MPI_Start(&request);
  MISUSE("start_plain") {
    request = receive_from_self(few);
    code = MPI_Start(&request), send_to_self(few), finish(&request);
  }
  MISUSE("start_twice") {
    request = persistent_receive(), MPI_Start(&request);
    code = MPI_Start(&request);
    send_to_self(few), finish(&request), MPI_Request_free(&request);
  }
  MISUSE("startall_plain") {
    MPI_Request two[2] = {persistent_receive(), receive_from_self(few)};
    code = MPI_Startall(2, two);
    send_to_self(few), finish(&two[1]), MPI_Cancel(&two[0]), finish(&two[0]);
    MPI_Request_free(&two[0]);
  }
  MISUSE("wait_inactive") {
    request = persistent_receive();
    code = MPI_Wait(&request, &status), MPI_Request_free(&request);
  }
  MISUSE("free_persistent_active") {
    request = persistent_receive(), MPI_Start(&request);
    code = MPI_Request_free(&request), send_to_self(few);
  }
  MISUSE("cancel_null") code = MPI_Cancel(&request);
  MISUSE("cancel_inactive") {
    request = persistent_receive();
    code = MPI_Cancel(&request), MPI_Request_free(&request);
  }
  MISUSE("cancel_receive") {
    request = receive_from_self(few), MPI_Cancel(&request);
    code = MPI_Wait(&request, &status);
  }
  MISUSE("same_twice") {
    request = receive_from_self(few), send_to_self(few);
    MPI_Request two[2] = {request, request};
    code = MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
  }
  MISUSE("test_copy") {
    request = receive_from_self(few), copy = request, send_to_self(few), finish(&request);
    code = MPI_Request_get_status(copy, &flag, &status);
  }
  return code;
}

/* The last rank joins once all others have done what they do with it: until then it is not over. */
static MPI_Request first_sum_of_all(void) {
  int word = 0;
  for (int i = 0; rank == size - 1 && i < size - 1; ++i)
    MPI_Recv(&word, 1, MPI_INT, i, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return sum_of_all(1);
}

static int let_last_join(int code) {
  int word = 0;
  MPI_Send(&word, 1, MPI_INT, size - 1, 6, MPI_COMM_WORLD);
  return code;
}

static int use_collectives(const char* name) {
  MPI_Request request, copy;
  MPI_Status status;
  int code = -1;
  MISUSE("free_collective") {
    request = first_sum_of_all(), copy = request;
    code = rank == size - 1 ? MPI_SUCCESS : let_last_join(MPI_Request_free(&copy));
    if (copy != MPI_REQUEST_NULL) finish(&request);
  }
  MISUSE("cancel_collective") {
    request = first_sum_of_all();
    code = rank == size - 1 ? MPI_SUCCESS : let_last_join(MPI_Cancel(&request));
    finish(&request);
  }
  MISUSE("start_collective_twice") {
    request = sum_of_all(2), MPI_Start(&request);
    code = MPI_Start(&request), finish(&request), MPI_Request_free(&request);
  }
  MISUSE("wait_collective_inactive") {
    request = sum_of_all(2);
    code = MPI_Wait(&request, &status), MPI_Request_free(&request);
  }
  return code;
}

/* A receive of fewer numbers than were sent. */
static int receive_less(const char* name) {
  MPI_Request request, sending;
  MPI_Status statuses[2];
  MPI_Message message;
  int code = -1, index, count;
  if (strncmp(name, "less_", 5) != 0) return -1;
  MPI_Isend(given, many, MPI_INT, 0, 5, MPI_COMM_SELF, &sending);
  MISUSE("less_recv") {
    code = MPI_Recv(got, few, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  }
  MISUSE("less_anybody") {
    code = MPI_Recv(got, few, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, statuses);
  }
  MISUSE("less_wait") request = receive_from_self(few), code = MPI_Wait(&request, statuses);
  MISUSE("less_waitall") {
    MPI_Request two[2] = {MPI_REQUEST_NULL, receive_from_self(few)};
    code = MPI_Waitall(2, two, statuses);
  }
  MISUSE("less_waitany") {
    MPI_Request two[2] = {MPI_REQUEST_NULL, receive_from_self(few)};
    code = MPI_Waitany(2, two, &index, statuses);
  }
  MISUSE("less_waitsome") {
    request = receive_from_self(few);
    code = MPI_Waitsome(1, &request, &count, &index, statuses);
  }
  MISUSE("less_started") {
    request = persistent_receive(), MPI_Start(&request);
    code = MPI_Wait(&request, statuses), MPI_Request_free(&request);
  }
  MISUSE("less_matched") {
    MPI_Mprobe(0, 5, MPI_COMM_SELF, &message, statuses);
    code = MPI_Mrecv(got, few, MPI_INT, &message, statuses);
  }
  MISUSE("less_of_another_type") {
    code = MPI_Recv(got, few, MPI_CHAR, 0, 5, MPI_COMM_SELF, statuses);
  }
  finish(&sending);
  return code;
}

static int use_made_handles(const char* name) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Datatype type = MPI_INT;
  MPI_Op op = MPI_SUM;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Request request;
  int code = -1, key = MPI_KEYVAL_INVALID, flag;
  void* value;
  MISUSE("comm_free_null") code = MPI_Comm_free(&comm);
  MISUSE("comm_free_world") comm = MPI_COMM_WORLD, code = MPI_Comm_free(&comm);
  MISUSE("comm_free_self") comm = MPI_COMM_SELF, code = MPI_Comm_free(&comm);
  MISUSE("comm_disconnect_null") code = MPI_Comm_disconnect(&comm);
  MISUSE("comm_free_used") {
    MPI_Comm_dup(usual, &comm);
    MPI_Iallreduce(given, got, 1, MPI_INT, MPI_SUM, comm, &request);
    code = MPI_Comm_free(&comm), finish(&request);
  }
  MISUSE("comm_free_receiving") {
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Irecv(got, few, MPI_INT, 0, 5, comm, &request);
    MPI_Send(given, few, MPI_INT, 0, 5, comm);
    code = MPI_Comm_free(&comm), finish(&request);
  }
  MISUSE("type_free_predefined") code = MPI_Type_free(&type);
  MISUSE("type_free_null") type = MPI_DATATYPE_NULL, code = MPI_Type_free(&type);
  MISUSE("type_free_used") {
    MPI_Type_contiguous(few, MPI_INT, &type), MPI_Type_commit(&type);
    MPI_Irecv(got, 1, type, 0, 5, MPI_COMM_SELF, &request);
    code = MPI_Type_free(&type), send_to_self(few), finish(&request);
  }
  MISUSE("type_negative") code = MPI_Type_contiguous(-1, MPI_INT, &type);
  MISUSE("op_free_predefined") code = MPI_Op_free(&op);
  MISUSE("op_free_null") op = MPI_OP_NULL, code = MPI_Op_free(&op);
  MISUSE("group_free_null") code = MPI_Group_free(&group);
  MISUSE("group_of_null") code = MPI_Comm_group(comm, &group);
  MISUSE("keyval_invalid") code = MPI_Comm_free_keyval(&key);
  MISUSE("attr_get_invalid") code = MPI_Comm_get_attr(usual, key, &value, &flag);
  MISUSE("attr_set_invalid") code = MPI_Comm_set_attr(usual, key, NULL);
  MISUSE("attr_delete_invalid") code = MPI_Comm_delete_attr(usual, key);
  return code;
}

static int use_other_handles(const char* name) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File file = MPI_FILE_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Status status;
  char text[8];
  int code = -1, count, flag;
  MISUSE("info_free_null") code = MPI_Info_free(&info);
  MISUSE("info_set_null") code = MPI_Info_set(info, "a", "b");
  MISUSE("info_get_null") code = MPI_Info_get(info, "a", 7, text, &flag);
  MISUSE("info_key_empty") {
    MPI_Info_create(&info);
    code = MPI_Info_set(info, "", "b"), MPI_Info_free(&info);
  }
  MISUSE("errhandler_free_null") code = MPI_Errhandler_free(&handler);
  MISUSE("count_of_null") {
    memset(&status, 0, sizeof status);
    code = MPI_Get_count(&status, MPI_DATATYPE_NULL, &count);
  }
  MISUSE("win_free_null") code = MPI_Win_free(&win);
  MISUSE("file_close_null") code = MPI_File_close(&file);
  MISUSE("file_read_null") code = MPI_File_read(file, got, few, MPI_INT, &status);
  MISUSE("file_open_missing") {
    code = MPI_File_open(usual, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  }
  MISUSE("file_open_without_mode") {
    code = MPI_File_open(usual, "/nowhere/at/all", 0, MPI_INFO_NULL, &file);
  }
  return code;
}

/* Epochs that nobody has opened, or that are open already. */
static int use_windows(const char* name) {
  const int target = (rank + 1) % size;
  int code = -1;
  MISUSE("unlock_unlocked") code = MPI_Win_unlock(target, window);
  MISUSE("unlock_all_unlocked") code = MPI_Win_unlock_all(window);
  MISUSE("flush_unlocked") code = MPI_Win_flush(target, window);
  MISUSE("complete_unstarted") code = MPI_Win_complete(window);
  MISUSE("wait_unposted") code = MPI_Win_wait(window);
  MISUSE("put_without_epoch") code = MPI_Put(given, 1, MPI_INT, target, 0, 1, MPI_INT, window);
  MISUSE("rput_without_lock") {
    MPI_Request request = MPI_REQUEST_NULL;
    code = MPI_Rput(given, 1, MPI_INT, target, 0, 1, MPI_INT, window, &request);
    if (code == MPI_SUCCESS) finish(&request);
  }
  MISUSE("lock_twice") {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    code = MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Win_unlock(target, window);
  }
  MISUSE("lock_of_no_kind") code = MPI_Win_lock(12345, target, 0, window);
  MISUSE("fence_locked") {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    code = MPI_Win_fence(0, window);
    MPI_Win_unlock(target, window);
  }
  return code;
}

static int use_handles(const char* name) {
  int code = use_requests(name);
  if (code == -1) code = use_collectives(name);
  if (code == -1) code = receive_less(name);
  if (code == -1) code = use_made_handles(name);
  if (code == -1) code = use_other_handles(name);
  if (code == -1) code = use_windows(name);
  return code;
}

#endif
