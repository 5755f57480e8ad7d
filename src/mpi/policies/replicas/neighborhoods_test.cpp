// What replicas compare of neighborhood collectives. A process alone is its own neighbor.
#include <array>
#include <string_view>

#include "doctest/doctest.h"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/handles/communicators/neighbors.hpp"
#include "mpi/policies/digests/digest.hpp"
#include "mpi/policies/replicas/compared_pair.hpp"
#include "mpi/policies/replicas/compared_requests.hpp"

using namespace resprout;
using namespace resprout::shim;
using protocols::VoteMethod;
using runtime::Stream;

namespace {

// Communicators with a topology that are made of a pair's, with a name.
class Topology {
 public:
  template <typename Make>
  Topology(MPI_Comm parent, Make make) {
    REQUIRE(make(parent, &comm_) == MPI_SUCCESS);
    name_child(parent, comm_);
  }
  ~Topology() { PMPI_Comm_free(&comm_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// A column, which ends at its borders, of rings of one.
int create_grid(MPI_Comm parent, MPI_Comm* made) {
  const std::array<int, 2> dims{1, 1};
  const std::array<int, 2> periods{0, 1};
  return PMPI_Cart_create(parent, 2, dims.data(), periods.data(), 0, made);
}

int create_graph(MPI_Comm parent, MPI_Comm* made) {
  const int last = 2;
  const std::array<int, 2> edges{};
  return PMPI_Graph_create(parent, 1, &last, edges.data(), 0, made);
}

// Three edges to itself.
int create_distributed_graph(MPI_Comm parent, MPI_Comm* made) {
  const std::array<int, 3> self{};
  return PMPI_Dist_graph_create_adjacent(parent, 3, self.data(), MPI_UNWEIGHTED, 3, self.data(),
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
}

using Numbers = std::array<int, 4>;

const std::array<int, 4> ones{1, 1, 1, 1};
const std::array<int, 4> places{0, 1, 2, 3};
const std::array<MPI_Aint, 4> offsets{0, 4, 8, 12};
const std::array<MPI_Datatype, 4> types{MPI_INT, MPI_INT, MPI_INT, MPI_INT};

struct Form {
  const char* name;
  int (*run)(const int* in, int* out, MPI_Comm comm, MPI_Request* request);
};

#define BLOCKING(name, ...) \
  {#name, [](const int* in, int* out, MPI_Comm c, MPI_Request*) { return name(__VA_ARGS__, c); }}
#define STARTED(name, ...) \
  {#name, [](const int* in, int* out, MPI_Comm c, MPI_Request* r) { return name(__VA_ARGS__, r); }}
#define V_IN in, ones.data(), places.data(), MPI_INT
#define V_OUT out, ones.data(), places.data(), MPI_INT
#define W_IN in, ones.data(), offsets.data(), types.data()
#define W_OUT out, ones.data(), offsets.data(), types.data()

const Form forms[] = {
    BLOCKING(MPI_Neighbor_allgather, in, 1, MPI_INT, out, 1, MPI_INT),
    BLOCKING(MPI_Neighbor_allgatherv, in, 1, MPI_INT, V_OUT),
    BLOCKING(MPI_Neighbor_alltoall, in, 1, MPI_INT, out, 1, MPI_INT),
    BLOCKING(MPI_Neighbor_alltoallv, V_IN, V_OUT),
    BLOCKING(MPI_Neighbor_alltoallw, W_IN, W_OUT),
    STARTED(MPI_Ineighbor_allgather, in, 1, MPI_INT, out, 1, MPI_INT, c),
    STARTED(MPI_Ineighbor_allgatherv, in, 1, MPI_INT, V_OUT, c),
    STARTED(MPI_Ineighbor_alltoall, in, 1, MPI_INT, out, 1, MPI_INT, c),
    STARTED(MPI_Ineighbor_alltoallv, V_IN, V_OUT, c),
    STARTED(MPI_Ineighbor_alltoallw, W_IN, W_OUT, c),
#if RESPROUT_HAS_PERSISTENT_COLLECTIVES
    STARTED(MPI_Neighbor_allgather_init, in, 1, MPI_INT, out, 1, MPI_INT, c, MPI_INFO_NULL),
    STARTED(MPI_Neighbor_allgatherv_init, in, 1, MPI_INT, V_OUT, c, MPI_INFO_NULL),
    STARTED(MPI_Neighbor_alltoall_init, in, 1, MPI_INT, out, 1, MPI_INT, c, MPI_INFO_NULL),
    STARTED(MPI_Neighbor_alltoallv_init, V_IN, V_OUT, c, MPI_INFO_NULL),
    STARTED(MPI_Neighbor_alltoallw_init, W_IN, W_OUT, c, MPI_INFO_NULL),
#endif
};
#undef BLOCKING
#undef STARTED
#undef V_IN
#undef V_OUT
#undef W_IN
#undef W_OUT

bool is_allgather(const Form& form) {
  return std::string_view(form.name).find("allgather") != std::string_view::npos;
}

// As the program's calls do it.
void run(const Form& form, const Numbers& in, Numbers& out, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK(form.run(in.data(), out.data(), comm, &request) == MPI_SUCCESS);
  if (request == MPI_REQUEST_NULL) return;
  const bool is_persistent = std::string_view(form.name).ends_with("_init");
  if (is_persistent) {
    start_compared(request);
    PMPI_Start(&request);
  }
  const auto claim = claim_compared(request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  complete_compared(claim, request);
  if (!is_persistent) return;
  forget_compared(request);
  PMPI_Request_free(&request);
}

// Of single numbers in several places.
std::uint64_t digest_of_those(const Numbers& numbers, std::initializer_list<std::size_t> at) {
  std::vector<Piece> pieces;
  for (const std::size_t i : at) pieces.push_back(Piece::of(&numbers[i], 1, MPI_INT));
  return digest_of(pieces).low;
}

}  // namespace

TEST_CASE("neighbors are those of the topology, borders included") {
  need_mpi();
  const Topology grid(MPI_COMM_SELF, create_grid);
  const std::vector<int> in_grid{MPI_PROC_NULL, MPI_PROC_NULL, 0, 0};
  CHECK(neighbors_of(grid.comm()).sources == in_grid);
  CHECK(neighbors_of(grid.comm()).destinations == in_grid);
  const Topology graph(MPI_COMM_SELF, create_graph);
  CHECK(neighbors_of(graph.comm()).sources == std::vector<int>{0, 0});
  CHECK(neighbors_of(graph.comm()).destinations == std::vector<int>{0, 0});
  const Topology distributed(MPI_COMM_SELF, create_distributed_graph);
  CHECK(neighbors_of(distributed.comm()).sources == std::vector<int>{0, 0, 0});
  CHECK(neighbors_of(distributed.comm()).destinations == std::vector<int>{0, 0, 0});
  CHECK(neighbors_of(MPI_COMM_SELF).sources.empty());
  CHECK(neighbors_of(MPI_COMM_NULL).sources.empty());
}

TEST_CASE("who is a neighbor several times says of each block which it is, as the other does") {
  need_mpi();
  const Topology grid(MPI_COMM_SELF, create_grid);
  const Neighbors in_grid = neighbors_of(grid.comm());
  for (const std::size_t up : {1U, 3U}) {  // what is sent up comes from below
    CHECK(in_grid.numbers_out[up] == in_grid.numbers_in[up - 1]);
    CHECK(in_grid.numbers_out[up - 1] == in_grid.numbers_in[up]);
    CHECK(in_grid.numbers_out[up] != in_grid.numbers_out[up - 1]);
  }
  for (const auto make : {create_graph, create_distributed_graph}) {
    const Topology graph(MPI_COMM_SELF, make);
    const Neighbors in_graph = neighbors_of(graph.comm());
    for (std::size_t i = 0; i < in_graph.sources.size(); ++i) {
      CHECK(in_graph.numbers_in[i] == static_cast<int>(i));
      CHECK(in_graph.numbers_out[i] == static_cast<int>(i));
    }
  }
}

TEST_CASE("of a grid the blocks beyond its borders are not looked at, in no form") {
  for (const Form& form : forms) {
    CAPTURE(form.name);
    Pair pair(VoteMethod::async_hash);
    const Topology grid(pair.comm, create_grid);
    const Numbers in{1, 2, 3, 4};
    Numbers out{-1, -2, -3, -4};
    run(form, in, out, grid.comm());
    CHECK(out[0] == -1);
    CHECK(out[1] == -2);
    REQUIRE(pair.sent.size() == 2);
    CHECK(pair.sent[0].name.stream.of == Stream::Of::contributions);
    CHECK(pair.sent[0].message.digests[0] ==
          (is_allgather(form) ? digest_of_those(in, {0}) : digest_of_those(in, {2, 3})));
    CHECK(pair.sent[1].name.stream.of == Stream::Of::results);
    CHECK(pair.sent[1].message.digests[0] == digest_of_those(out, {2, 3}));
  }
}

TEST_CASE("of a graph every block is compared, in every form") {
  for (const auto make : {create_graph, create_distributed_graph})
    for (const Form& form : forms) {
      CAPTURE(form.name);
      const bool has_three = make == create_distributed_graph;
      Pair pair(VoteMethod::async_hash);
      const Topology graph(pair.comm, make);
      const Numbers in{1, 2, 3, 4};
      Numbers out{-1, -2, -3, -4};
      run(form, in, out, graph.comm());
      CHECK(out[3] == -4);
      REQUIRE(pair.sent.size() == 2);
      const auto all_of = [&](const Numbers& numbers) {
        return has_three ? digest_of_those(numbers, {0, 1, 2}) : digest_of_those(numbers, {0, 1});
      };
      CHECK(pair.sent[0].message.digests[0] ==
            (is_allgather(form) ? digest_of_those(in, {0}) : all_of(in)));
      CHECK(pair.sent[1].message.digests[0] == all_of(out));
    }
}

TEST_CASE("who has no neighbors gives nothing, whatever the buffer is") {
  Pair pair(VoteMethod::async_hash);
  const Topology alone(pair.comm, [](MPI_Comm parent, MPI_Comm* made) {
    const int one = 1;
    const int none = 0;
    return PMPI_Cart_create(parent, 1, &one, &none, 0, made);
  });
  const Numbers in{7};
  Numbers out{-1, -2};
  run(forms[0], in, out, alone.comm());
  REQUIRE(pair.sent.size() == 2);
  for (const runtime::VoteFrame& frame : pair.sent)
    CHECK(frame.message.digests[0] == digest_of_those(in, {}));
  CHECK(out == Numbers{-1, -2});
}
