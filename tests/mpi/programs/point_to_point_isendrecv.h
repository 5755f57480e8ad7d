/* The cases of point_to_point.c that are about MPI_Isendrecv and MPI_Isendrecv_replace: rings as
 * those of MPI_Sendrecv, and all ways to complete them.
 */
/* Everybody shifts to the right. Both halves of a large one wait for their peers. */
static void isendrecv_ring_of(int count, int is_replacing) {
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int *out = malloc((size_t)count * sizeof *out), *in = malloc((size_t)count * sizeof *in);
  for (int round = 0; round < 3; ++round) {
    MPI_Request request;
    for (int i = 0; i < count; ++i) out[i] = in[i] = 10 * round + rank + i;
    int code = is_replacing ? MPI_Isendrecv_replace(in, count, MPI_INT, right, data_tag, left,
                                                    data_tag, comm, &request)
                            : MPI_Isendrecv(out, count, MPI_INT, right, data_tag, in, count,
                                            MPI_INT, left, data_tag, comm, &request);
    CHECK(code == MPI_SUCCESS);
    memset(out, -1, (size_t)count * sizeof *out); /* ours again only now, but it was copied */
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    if (left == victim) CHECK(is_failed(code) && in[count - 1] == 10 * round + rank + count - 1);
    if (left != victim) CHECK(in[count - 1] == 10 * round + left + count - 1);
    if (right == victim && code != MPI_SUCCESS) CHECK(is_failed(code));
    if (right == victim && round > 0 && count > 1000) CHECK(is_failed(code));
    if (left != victim && right != victim) CHECK(code == MPI_SUCCESS);
  }
  free(out);
  free(in);
}
static void isendrecv_ring(void) { isendrecv_ring_of(1, 0); }
static void isendrecv_large_ring(void) { isendrecv_ring_of(1 << 18, 0); }
static void isendrecv_replace_ring(void) { isendrecv_ring_of(3, 1); }
static void isendrecv_replace_large_ring(void) { isendrecv_ring_of(1 << 18, 1); }

/* Every way to complete them, beside requests of other kinds, half of them to nobody or of nobody.
 */
static void isendrecv_completions(void) {
  enum { n = 4 };
  const int next = next_alive(rank), previous = previous_alive(rank), none = MPI_PROC_NULL;
  await_loss();
  for (int way = 0; way < 8; ++way) {
    int out = 100 * way + rank, in[n] = {-7, -7, -7, -7}, done = 0, left = n, flag = 0, index;
    int indices[n];
    MPI_Status statuses[n];
    MPI_Request r[n];
    MPI_Irecv(&in[0], 1, MPI_INT, previous, data_tag + 1, comm, &r[0]);
    MPI_Isendrecv(&out, 1, MPI_INT, next, data_tag, &in[1], 1, MPI_INT,
                  way % 2 ? MPI_ANY_SOURCE : previous, data_tag, comm, &r[1]);
    MPI_Isendrecv(&out, 1, MPI_INT, next, data_tag + 1, &in[2], 1, MPI_INT, none, 0, comm, &r[2]);
    MPI_Isendrecv(&out, 1, MPI_INT, none, 0, &in[3], 1, MPI_INT, previous, data_tag + 2, comm,
                  &r[3]);
    CHECK(MPI_Send(&out, 1, MPI_INT, next, data_tag + 2, comm) == MPI_SUCCESS);
    if (way == 0) CHECK(MPI_Waitall(n, r, statuses) == MPI_SUCCESS);
    while (way == 1 && !flag) CHECK(MPI_Testall(n, r, &flag, statuses) == MPI_SUCCESS);
    for (; way == 2 && left > 0; --left)
      CHECK(MPI_Waitany(n, r, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS && index >= 0);
    while (way == 3 && left > 0) {
      CHECK(MPI_Testany(n, r, &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      left -= flag;
    }
    for (; way == 4 && left > 0; left -= done)
      CHECK(MPI_Waitsome(n, r, &done, indices, statuses) == MPI_SUCCESS);
    for (; way == 5 && left > 0; left -= done)
      CHECK(MPI_Testsome(n, r, &done, indices, statuses) == MPI_SUCCESS);
    for (int i = n - 1; way == 6 && i >= 0; --i) {
      CHECK(MPI_Wait(&r[i], &statuses[i]) == MPI_SUCCESS);
      if (i == 2) CHECK(statuses[i].MPI_SOURCE == none);
      if (i == 1) CHECK(statuses[i].MPI_SOURCE == previous && statuses[i].MPI_TAG == data_tag);
    }
    for (int i = 0; way == 7 && i < n; ++i)
      for (flag = 0; !flag;) CHECK(MPI_Test(&r[i], &flag, &statuses[i]) == MPI_SUCCESS);
    const int expected = 100 * way + previous;
    CHECK(in[0] == expected && in[1] == expected && in[2] == -7 && in[3] == expected);
    for (int i = 0; i < n; ++i) CHECK(r[i] == MPI_REQUEST_NULL);
  }
}
