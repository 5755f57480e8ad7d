/* The cases of point_to_point.c in which a request is started for a process that is known to be
 * lost: what starts it succeeds, and every call that completes it says that it has failed.
 */
enum { unsent_kinds = 11 };

static int unsent_out = 5, unsent_in = -7, unsent_sink[2] = {-7, -7};

static int is_unsent_persistent(int kind) { return kind >= 7; }

static int make_unsent(int kind, MPI_Request* r) {
  int* const out = &unsent_out;
  switch (kind) {
    case 0:
      return MPI_Isend(out, 1, MPI_INT, victim, data_tag, comm, r);
    case 1:
      return MPI_Issend(out, 1, MPI_INT, victim, data_tag, comm, r);
    case 2:
      return MPI_Irsend(out, 1, MPI_INT, victim, data_tag, comm, r);
    case 3:
      return MPI_Ibsend(out, 1, MPI_INT, victim, data_tag, comm, r);
    case 4:
      return MPI_Irecv(&unsent_in, 1, MPI_INT, victim, data_tag, comm, r);
    case 5:
      return MPI_Isendrecv(out, 1, MPI_INT, victim, data_tag, &unsent_sink[0], 1, MPI_INT, victim,
                           data_tag, comm, r);
    case 6:
      return MPI_Isendrecv(out, 1, MPI_INT, victim, data_tag, &unsent_sink[1], 1, MPI_INT,
                           MPI_PROC_NULL, 0, comm, r);
    case 7:
      return MPI_Send_init(out, 1, MPI_INT, victim, data_tag, comm, r);
    case 8:
      return MPI_Ssend_init(out, 1, MPI_INT, victim, data_tag, comm, r);
    case 9:
      return MPI_Rsend_init(out, 1, MPI_INT, victim, data_tag, comm, r);
    default:
      return MPI_Bsend_init(out, 1, MPI_INT, victim, data_tag, comm, r);
  }
}

/* One failed request and a message between living neighbors: each way reports both, once. */
static void complete_unsent(MPI_Request* unsent, int way, int round) {
  const int next = next_alive(rank), previous = previous_alive(rank);
  int value = -7, flag = 0, index = -1, done = 0, failed = 0, left = 2, indices[2];
  MPI_Status statuses[2];
  MPI_Request r[2] = {*unsent, MPI_REQUEST_NULL};
  CHECK(MPI_Irecv(&value, 1, MPI_INT, previous, late_tag, comm, &r[1]) == MPI_SUCCESS);
  CHECK(MPI_Send(&round, 1, MPI_INT, next, late_tag, comm) == MPI_SUCCESS);
  if (way == 0) {
    CHECK(is_failed(MPI_Wait(&r[0], MPI_STATUS_IGNORE)));
    CHECK(MPI_Wait(&r[1], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    failed = 1;
  } else if (way == 1) {
    int code = MPI_SUCCESS;
    while (!flag && code == MPI_SUCCESS) code = MPI_Test(&r[0], &flag, &statuses[0]);
    CHECK(flag && is_failed(code));
    CHECK(MPI_Wait(&r[1], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    failed = 1;
  } else if (way == 2) {
    CHECK(MPI_Waitall(2, r, statuses) == MPI_ERR_IN_STATUS);
    CHECK(is_failed(statuses[0].MPI_ERROR) && statuses[1].MPI_ERROR == MPI_SUCCESS);
    failed = 1;
  } else if (way == 3) {
    while (!flag)
      if (MPI_Testall(2, r, &flag, statuses) == MPI_ERR_IN_STATUS)
        failed += is_failed(statuses[0].MPI_ERROR);
  } else if (way < 6) {
    for (flag = way == 4; left > 0; left -= flag) {
      int code = way == 4 ? MPI_Waitany(2, r, &index, &statuses[0])
                          : MPI_Testany(2, r, &index, &flag, &statuses[0]);
      if (!flag) continue;
      CHECK(index == 0 ? is_failed(code) : index == 1 && code == MPI_SUCCESS);
      failed += index == 0;
    }
  } else {
    for (; left > 0; left -= done) {
      int code = way == 6 ? MPI_Waitsome(2, r, &done, indices, statuses)
                          : MPI_Testsome(2, r, &done, indices, statuses);
      CHECK(done != MPI_UNDEFINED);
      for (int k = 0; k < done; ++k) {
        CHECK(indices[k] == 0 ? code == MPI_ERR_IN_STATUS && is_failed(statuses[k].MPI_ERROR)
                              : code == MPI_SUCCESS || statuses[k].MPI_ERROR == MPI_SUCCESS);
        failed += indices[k] == 0;
      }
    }
  }
  CHECK(failed == 1 && value == round && r[1] == MPI_REQUEST_NULL);
  *unsent = r[0];
}

static void unsent(void) {
  static char space[4096];
  char* attached;
  int bytes, ways = 8;
  await_loss();
  MPI_Buffer_attach(space, sizeof space);
  for (int kind = 0; kind < unsent_kinds; ++kind)
    for (int way = 0; way < ways; ++way) {
      MPI_Request request = MPI_REQUEST_NULL;
      CHECK(make_unsent(kind, &request) == MPI_SUCCESS);
      for (int start = 0; start < 2 && is_unsent_persistent(kind); ++start) {
        CHECK(MPI_Start(&request) == MPI_SUCCESS);
        complete_unsent(&request, way, 10 * way + start);
        CHECK(request != MPI_REQUEST_NULL);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS); /* inactive */
      }
      if (is_unsent_persistent(kind)) {
        CHECK(MPI_Startall(1, &request) == MPI_SUCCESS);
        CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
      } else {
        CHECK(request != MPI_REQUEST_NULL);
        complete_unsent(&request, way, 10 * way);
      }
      CHECK(request == MPI_REQUEST_NULL);
    }
  MPI_Request request;
  CHECK(make_unsent(0, &request) == MPI_SUCCESS);
  CHECK(MPI_Request_free(&request) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
  CHECK(unsent_in == -7 && unsent_sink[0] == -7 && unsent_sink[1] == -7);
  MPI_Buffer_detach(&attached, &bytes);
}
