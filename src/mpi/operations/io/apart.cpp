#include "mpi/operations/io/apart.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "mpi/carriers/bitwise_or.hpp"
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/datatypes/type_size.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/operations/io/error_class.hpp"
#include "mpi/operations/io/plane_files.hpp"
#include "mpi/operations/io/view.hpp"
#include "mpi/policies/files/file_note.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/quiet_opening.hpp"
#include "runtime/collectives.hpp"
#include "runtime/engine.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// What members say: nothing; or, of what one of them does for all, the class of the error that came
// of it; or a number.
constexpr std::uint64_t said_nothing = 0;
constexpr std::uint64_t said_done = 1;
constexpr std::uint64_t numbers = 1024;  // no class is as high

class Most final : public runtime::Combiner {
 public:
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, lower.data(), sizeof a);
    std::memcpy(&b, upper.data(), sizeof b);
    b = std::max(a, b);
    std::memcpy(upper.data(), &b, sizeof b);
  }
  bool is_commutative() const override { return true; }
  bool is_for_program() const override { return false; }
};

std::uint64_t done_with(int code) { return said_done + static_cast<std::uint64_t>(class_of(code)); }
int class_in(std::uint64_t heard) { return static_cast<int>(heard - said_done); }

std::uint64_t any_number() {
  std::uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return numbers + number;
}

// How many elements of the file's view `count` of `datatype` are.
std::int64_t elements(MPI_File fh, int count, MPI_Datatype datatype) {
  const int element_bytes = ViewParts(fh).element_bytes;
  const auto bytes = static_cast<std::int64_t>(size_of_type(datatype)) * count;
  return element_bytes > 0 ? bytes / element_bytes : 0;
}

// Elements from the view's beginning to the file's end.
MPI_Offset end_of(MPI_File fh) {
  MPI_Offset own = 0;
  MPI_Offset end = 0;
  PMPI_File_get_position(fh, &own);
  PMPI_File_seek(fh, 0, MPI_SEEK_END);
  PMPI_File_get_position(fh, &end);
  PMPI_File_seek(fh, own, MPI_SEEK_SET);
  return end;
}

// Those that are open. Never destroyed: threads may be here when the process ends.
struct Open {
  runtime::Mutex mutex;
  std::map<MPI_File, std::shared_ptr<Apart>> by_handle RESPROUT_GUARDED_BY(mutex);
};

Open& opened() {
  static auto* instance = new Open;
  return *instance;
}

}  // namespace

Apart::Apart(runtime::Session& session, MPI_Group group, std::string name, int amode,
             std::unique_ptr<Account> account)
    : session_(session),
      group_(group),
      name_(std::move(name)),
      amode_(amode),
      account_(std::move(account)) {}

Apart::~Apart() {
  PMPI_Group_free(&group_);
  runtime::Engine& engine = World::current()->engine();
  runtime::Lock lock = engine.lock();
  runtime::barrier(session_, lock);
  engine.close_session(lock, session_);
}

// Of those who are known to live.
bool Apart::is_first() {
  const runtime::Lock lock = World::current()->engine().lock();
  return index(session_.members().self()) == 0;
}

// The most that any member says.
std::uint64_t Apart::hear(std::uint64_t said) {
  runtime::Lock lock = World::current()->engine().lock();
  std::array<std::byte, sizeof said> word{};
  std::memcpy(word.data(), &said, sizeof said);
  Most most;
  runtime::agree(
      session_, lock, reduce_spec(session_, sizeof said), word, most,
      [&](std::span<const std::byte> all) { std::memcpy(&said, all.data(), sizeof said); });
  return session_.is_revoked() ? done_with(proc_failed()) : said;  // revoked: cut off
}

int Apart::by_one(MPI_File fh, const std::function<int()>& act) {
  hear(said_done);
  std::uint64_t said = said_nothing;
  std::uint64_t heard = said_nothing;
  while (heard == said_nothing) {  // who was the first is lost
    if (is_first()) said = done_with(act());
    heard = hear(said);
  }
  const int all = class_in(heard);
  if (all != MPI_SUCCESS && said == said_nothing) PMPI_File_call_errhandler(fh, all);
  return all;
}

int Apart::open(MPI_Info info, MPI_File* fh, int obstacle) {
  const QuietOpening quiet;
  if (const int code = catch_up(); code != MPI_SUCCESS) return code;
  bool is_open = false;
  const auto open_as = [&](int amode) {
    const int code = obstacle == MPI_SUCCESS
                         ? PMPI_File_open(MPI_COMM_SELF, name_.c_str(), amode, info, fh)
                         : fail_as(MPI_FILE_NULL, obstacle);
    is_open = code == MPI_SUCCESS;
    return code;
  };
  int amode = amode_ & ~MPI_MODE_DELETE_ON_CLOSE;
  if ((amode & MPI_MODE_RDWR) == 0) amode &= ~MPI_MODE_SEQUENTIAL;  // places are told it
  const int made = by_one(MPI_FILE_NULL, [&] { return open_as(amode); });
  if (made != MPI_SUCCESS) return made;
  const int mine = is_open ? MPI_SUCCESS : class_of(open_as(amode & ~MPI_MODE_EXCL));
  const int all = class_in(hear(done_with(mine)));
  if (all != MPI_SUCCESS) {
    if (is_open) PMPI_File_close(fh);
    if (mine == MPI_SUCCESS) PMPI_File_call_errhandler(MPI_FILE_NULL, all);
    return all;
  }
  MPI_Offset begin = 0;
  PMPI_File_get_position(*fh, &begin);  // the end, with MPI_MODE_APPEND
  const auto of_planes = shadows();
  pointer_.emplace(name_ + "." + (of_planes ? of_planes->job() + "-pointer" : "resprout") + "-" +
                       digits_of(hear(any_number())),
                   begin);
  if (!account_) return MPI_SUCCESS;
  account_->note_view(*fh);
  if (is_written(amode_) && is_first()) account_->note_begun();
  return MPI_SUCCESS;
}

// What lost members have done to the file alone, as others of their ranks, is done in this plane.
int Apart::catch_up() {
  if (!account_) return MPI_SUCCESS;
  account_->begin_opening();
  hear(said_done);
  const std::vector<int> lost = missing();
  const int code = lost.empty() ? MPI_SUCCESS : by_one(MPI_FILE_NULL, [&] {
    const int error = account_->catch_up(lost);
    return error != 0 ? fail_as(MPI_FILE_NULL, class_of_errno(error)) : MPI_SUCCESS;
  });
  account_->end();
  return code;
}

int Apart::close(MPI_File* fh) {
  const int settled = settle(*fh, "file_close");
  const int closed = class_of(PMPI_File_close(fh));
  const int code = settled != MPI_SUCCESS ? settled : closed;
  hear(said_done);  // nobody has it open any more
  if (is_first()) pointer_->remove();
  if (account_ && is_written(amode_) && code == MPI_SUCCESS && is_first()) account_->note_closed();
  if ((amode_ & MPI_MODE_DELETE_ON_CLOSE) == 0) return code;
  return by_one(MPI_FILE_NULL, [&] {
    const int deleted = PMPI_File_delete(name_.c_str(), MPI_INFO_NULL);
    // Who did it was lost before it could say so.
    return class_of(deleted) == MPI_ERR_NO_SUCH_FILE ? MPI_SUCCESS : deleted;
  });
}

int Apart::set_view(MPI_File fh, MPI_Offset disp, const std::function<int(MPI_Offset)>& act) {
  if (disp == MPI_DISPLACEMENT_CURRENT && (amode_ & MPI_MODE_SEQUENTIAL) != 0) {
    MPI_Offset at = 0;
    if (const int code = pointer(fh, &at); code != MPI_SUCCESS) return code;
    PMPI_File_get_byte_offset(fh, at, &disp);
  }
  const int code = act(disp);
  if (account_) account_->note_view(fh);
  constexpr std::uint64_t is_used = said_done + 1;
  if (hear(pointer_->is_there() ? is_used : said_done) == is_used) {
    const int moved = seek_pointer(fh, 0, MPI_SEEK_SET);
    if (code == MPI_SUCCESS) return moved;
  }
  return code;
}

int Apart::settle(MPI_File fh, const char* call) {
  if (!account_) return MPI_SUCCESS;
  account_->begin(call);
  hear(said_done);
  const std::vector<int> lost = missing();
  const auto write = [&] {
    const int error = account_->write_for(lost);
    return error != 0 ? fail_as(fh, class_of_errno(error)) : MPI_SUCCESS;
  };
  const int code = lost.empty() ? MPI_SUCCESS : by_one(fh, write);
  account_->end();
  return code;
}

// Of the communicator, those who have no part in what all have heard last.
std::vector<int> Apart::missing() const {
  const std::vector<int> here = session_.contributors().ranks();
  std::vector<int> others;
  for (int rank = 0; rank < session_.everybody().size(); ++rank)
    if (!std::ranges::binary_search(here, rank)) others.push_back(rank);
  return others;
}

void Apart::note_written(MPI_Offset at, int count, MPI_Datatype datatype) {
  if (account_) account_->note_written(at, count, datatype);
}

void Apart::note_written(MPI_File fh, int count, MPI_Datatype datatype) {
  MPI_Offset at = 0;
  if (account_) PMPI_File_get_position(fh, &at);
  note_written(at, count, datatype);
}

void Apart::note_written_somewhere() {
  if (account_) account_->note_written_somewhere();
}

int Apart::move_pointer(MPI_File fh, int count, MPI_Datatype datatype, const Access& access) {
  const std::int64_t steps = elements(fh, count, datatype);
  std::int64_t at = 0;
  const int error = pointer_->move([&](std::int64_t before) { return before + steps; }, &at);
  return error != 0 ? fail_as(fh, class_of_errno(error)) : access(at);
}

// What each member says, by rank; of a member that is lost what its siblings do, or nothing.
std::vector<std::int64_t> Apart::hear_all(std::int64_t said, const char* call) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(session_.everybody().size()));
  numbers[static_cast<std::size_t>(index(session_.everybody().self()))] = said;
  if (account_) account_->begin_with(call, said);
  {
    runtime::Lock lock = World::current()->engine().lock();
    BitwiseOr any;
    const std::vector<std::int64_t> mine = numbers;
    runtime::allreduce(session_, lock, reduce_spec(session_, std::as_bytes(std::span(mine)).size()),
                       std::as_bytes(std::span(mine)), any, [&](std::span<const std::byte> all) {
                         std::memcpy(numbers.data(), all.data(), all.size());
                       });
  }
  if (!account_) return numbers;
  for (const int rank : missing())
    numbers[static_cast<std::size_t>(rank)] = account_->number_of(rank);
  account_->end();
  return numbers;
}

int Apart::move_in_order(MPI_File fh, const char* call, int count, MPI_Datatype datatype,
                         const Access& access) {
  const std::vector<std::int64_t> steps = hear_all(elements(fh, count, datatype), call);
  const auto self = static_cast<std::size_t>(index(session_.everybody().self()));
  const std::uint64_t time = ++times_moved_;
  std::int64_t total = 0;
  for (const std::int64_t of_member : steps) total += of_member;
  const auto move = [&]() -> std::uint64_t {
    std::int64_t before = 0;
    const int error =
        pointer_->move_once(time, [&](std::int64_t at) { return at + total; }, &before);
    return error != 0 ? done_with(class_of_errno(error))
                      : numbers + static_cast<std::uint64_t>(before);
  };
  std::uint64_t heard = said_nothing;
  while (heard == said_nothing) heard = hear(is_first() ? move() : said_nothing);
  if (heard < numbers) return fail_as(fh, class_in(heard));
  auto at = static_cast<std::int64_t>(heard - numbers);
  for (std::size_t member = 0; member < self; ++member) at += steps[member];
  return access(at);
}

int Apart::seek_pointer(MPI_File fh, MPI_Offset offset, int whence) {
  const std::uint64_t time = ++times_moved_;
  return by_one(fh, [&]() -> int {
    const MPI_Offset from = whence == MPI_SEEK_END ? end_of(fh) : 0;
    const bool is_known =
        whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
    if (!is_known) return MPI_ERR_ARG;
    std::int64_t before = 0;
    const int error = pointer_->move_once(
        time, [&](std::int64_t at) { return (whence == MPI_SEEK_CUR ? at : from) + offset; },
        &before);
    return error != 0 ? fail_as(fh, class_of_errno(error)) : MPI_SUCCESS;
  });
}

int Apart::pointer(MPI_File fh, MPI_Offset* offset) {
  std::int64_t at = 0;
  const int error = pointer_->move([](std::int64_t before) { return before; }, &at);
  *offset = at;
  return error != 0 ? fail_as(fh, class_of_errno(error)) : MPI_SUCCESS;
}

int open_apart(CollectiveCall& call, MPI_Comm comm, const char* filename, int amode, MPI_Info info,
               MPI_File* fh) {
  if (filename == nullptr)
    return call.leave_to([&] { return PMPI_File_open(MPI_COMM_SELF, filename, amode, info, fh); });
  runtime::Session& session = World::current()->engine().open_session(
      call.lock(), call.session().next_child(), call.communicator().world_ranks);
  call.lock().unlock();
  MPI_Group group = MPI_GROUP_NULL;
  group_of(comm, &group);
  const Shadows::Place place = place_of(filename, amode);
  const std::string path = place.path.empty() ? filename : place.path;
  const auto apart =
      std::make_shared<Apart>(session, group, path, amode, Account::of(comm, filename, path));
  const int code =
      apart->open(info, fh, place.error != 0 ? class_of_errno(place.error) : MPI_SUCCESS);
  if (code != MPI_SUCCESS) return code;
  note_open(filename, amode, place);
  const runtime::MutexLock guard(opened().mutex);
  opened().by_handle[*fh] = apart;
  return MPI_SUCCESS;
}

std::shared_ptr<Apart> apart_of(MPI_File fh) {
  const runtime::MutexLock guard(opened().mutex);
  const auto found = opened().by_handle.find(fh);
  return found != opened().by_handle.end() ? found->second : nullptr;
}

std::shared_ptr<Apart> take_apart(MPI_File fh) {
  const runtime::MutexLock guard(opened().mutex);
  auto node = opened().by_handle.extract(fh);
  return node.empty() ? nullptr : std::move(node.mapped());
}

}  // namespace resprout::shim
