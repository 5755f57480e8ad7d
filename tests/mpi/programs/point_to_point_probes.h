/* The cases of point_to_point.c that probe for messages of a process that is killed, and that
 * receive what they have matched. */

static void probes(void) {
  int flag = 0, code = MPI_SUCCESS;
  MPI_Message message;
  CHECK(is_failed(MPI_Probe(victim, data_tag, comm, MPI_STATUS_IGNORE)));
  CHECK(is_failed(MPI_Mprobe(victim, data_tag, comm, &message, MPI_STATUS_IGNORE)));
  while (!flag && code == MPI_SUCCESS)
    code = MPI_Iprobe(victim, data_tag, comm, &flag, MPI_STATUS_IGNORE);
  CHECK(is_failed(code));
  CHECK(is_failed(MPI_Improbe(victim, data_tag, comm, &flag, &message, MPI_STATUS_IGNORE)));
}
static void iprobe_until_lost(void) {
  int flag = 0, code = MPI_SUCCESS;
  while (!flag && code == MPI_SUCCESS)
    code = MPI_Iprobe(victim, data_tag, comm, &flag, MPI_STATUS_IGNORE);
  CHECK(is_failed(code) && !flag);
}

/* Two long messages, whose beginnings are matched before their sender dies. */
static void send_until_matched(void) {
  char* data = calloc(2, large);
  MPI_Request requests[2];
  int heir = victim == 0 ? 1 : 0, none, is_matched = 0;
  for (int i = 0; i < 2; ++i)
    MPI_Isend(data + i * large, large, MPI_CHAR, heir, data_tag, comm, &requests[i]);
  MPI_Recv(&is_matched, 1, MPI_INT, heir, late_tag, comm, MPI_STATUS_IGNORE);
  MPI_Test(&requests[0], &none, MPI_STATUS_IGNORE);
  die();
}
static void matched_before(void) {
  if (!is_first_alive()) return;
  char* data = calloc(2, large);
  MPI_Message messages[2];
  MPI_Request request;
  for (int i = 0; i < 2; ++i)
    CHECK(MPI_Mprobe(victim, data_tag, comm, &messages[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Send(&rank, 1, MPI_INT, victim, late_tag, comm) == MPI_SUCCESS);
  await_loss();
  CHECK(is_failed(MPI_Mrecv(data, large, MPI_CHAR, &messages[0], MPI_STATUS_IGNORE)));
  CHECK(messages[0] == MPI_MESSAGE_NULL);
  CHECK(MPI_Imrecv(data + large, large, MPI_CHAR, &messages[1], &request) == MPI_SUCCESS);
  CHECK(is_failed(MPI_Wait(&request, MPI_STATUS_IGNORE)));
  CHECK(request == MPI_REQUEST_NULL);
}
