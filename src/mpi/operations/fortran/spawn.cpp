// MPI_Comm_spawn and MPI_Comm_spawn_multiple in Fortran. Commands and their arguments are
// significant at the root only, and not touched elsewhere.
#include "mpi/operations/fortran/arguments.hpp"
#include "mpi/operations/fortran/names.hpp"

#ifdef OPEN_MPI

using namespace resprout::shim::fortran;

extern "C" {
extern char mpi_fortran_argv_null_ __attribute__((weak));
extern char mpi_fortran_argvs_null_ __attribute__((weak));
}

namespace {

// Words in C's form: each ends with a zero byte, and the last one is followed by null.
class Words {
 public:
  void add(std::string word) { words_.push_back(std::move(word)); }
  std::size_t size() const { return words_.size(); }
  // REQUIRES: nothing is added afterwards.
  char** c() {
    addresses_.clear();
    for (std::string& word : words_) addresses_.push_back(word.data());
    addresses_.push_back(nullptr);
    return addresses_.data();
  }

 private:
  std::vector<std::string> words_;
  std::vector<char*> addresses_;
};

std::string word_at(const char* fortran, std::size_t place, int length) {
  const std::size_t bytes = length > 0 ? static_cast<std::size_t>(length) : 0;
  return std::string(String(fortran + place * bytes, length));
}

// Those of one command, from `place` on, each `stride` behind the one before; a blank one ends
// them.
Words arguments_at(const char* fortran, std::size_t place, std::size_t stride, int length) {
  Words words;
  for (std::string word; !(word = word_at(fortran, place, length)).empty(); place += stride)
    words.add(std::move(word));
  return words;
}

bool is_root(MPI_Comm comm, int root) {
  int rank = MPI_PROC_NULL;
  if (comm != nullptr && comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &rank);
  return rank == root;
}

}  // namespace

extern "C" void mpi_comm_spawn_(const char* command, const char* argv, const MPI_Fint* maxprocs,
                                const MPI_Fint* info, const MPI_Fint* root, const MPI_Fint* comm,
                                MPI_Fint* intercomm, MPI_Fint* array_of_errcodes, MPI_Fint* ierror,
                                int command_length, int argv_length) {
  Words command_word;
  Words arguments;
  const bool is_here = is_root(Comm::In(comm), *root);
  const bool has_arguments = is_here && argv != &mpi_fortran_argv_null_;
  command_word.add(is_here ? word_at(command, 0, command_length) : "");
  if (has_arguments) arguments = arguments_at(argv, 0, 1, argv_length);
  give(ierror, MPI_Comm_spawn(*command_word.c(), has_arguments ? arguments.c() : MPI_ARGV_NULL,
                              *maxprocs, Info::In(info), *root, Comm::In(comm),
                              Comm::Out(intercomm), errcodes(array_of_errcodes)));
}
RESPROUT_FORTRAN_NAMES(mpi_comm_spawn, MPI_COMM_SPAWN, MPI_Comm_spawn)

extern "C" void mpi_comm_spawn_multiple_(const MPI_Fint* count, const char* commands,
                                         const char* argvs, const MPI_Fint* maxprocs,
                                         const MPI_Fint* infos, const MPI_Fint* root,
                                         const MPI_Fint* comm, MPI_Fint* intercomm,
                                         MPI_Fint* array_of_errcodes, MPI_Fint* ierror,
                                         int command_length, int argv_length) {
  const bool is_here = is_root(Comm::In(comm), *root) && *count > 0;
  const bool has_arguments = is_here && argvs != &mpi_fortran_argvs_null_;
  const std::size_t commands_here = is_here ? static_cast<std::size_t>(*count) : 0;
  Words command_words;
  std::vector<Words> arguments(commands_here);
  std::vector<char**> argument_lists;
  std::vector<MPI_Info> c_infos;
  for (std::size_t i = 0; i < commands_here; ++i) {
    command_words.add(word_at(commands, i, command_length));
    if (has_arguments) arguments[i] = arguments_at(argvs, i, commands_here, argv_length);
    argument_lists.push_back(arguments[i].c());
    c_infos.push_back(PMPI_Info_f2c(infos[i]));
  }
  give(ierror, MPI_Comm_spawn_multiple(*count, command_words.c(),
                                       has_arguments ? argument_lists.data() : MPI_ARGVS_NULL,
                                       maxprocs, c_infos.data(), *root, Comm::In(comm),
                                       Comm::Out(intercomm), errcodes(array_of_errcodes)));
}
RESPROUT_FORTRAN_NAMES(mpi_comm_spawn_multiple, MPI_COMM_SPAWN_MULTIPLE, MPI_Comm_spawn_multiple)

#endif
