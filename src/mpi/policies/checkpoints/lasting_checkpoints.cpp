#include "mpi/policies/checkpoints/lasting_checkpoints.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "mpi/policies/checkpoints/host_memory.hpp"
#include "mpi/policies/digests/xxh3.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/world.hpp"
#include "runtime/checkpoints/partners.hpp"

namespace resprout::shim {
namespace {

using runtime::Held;
using runtime::Holding;
using runtime::Image;

// As of a call that needs data which only the dead had.
constexpr int lost_exit_status = 75;
constexpr int files_every_default = 10;
constexpr std::size_t passed_on_at_once = 64 << 20;

std::uint64_t digest_of_block(std::span<const std::byte> block) {
  return xxh3().digest_of(block.data(), block.size()).low;
}

// As the launcher has set it; empty: it has not.
std::string setting(std::string_view name) {
  for (char** entry = take_environment(); *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with(name) && text.substr(name.size()).starts_with('='))
      return std::string(text.substr(name.size() + 1));
  }
  return {};
}

// Ranks of a group, of `xor:RANKS`; else 0.
int read_code(std::string_view text) {
  constexpr std::string_view head = "xor:";
  int size = 0;
  if (!text.starts_with(head)) return 0;
  text.remove_prefix(head.size());
  std::from_chars(text.data(), text.data() + text.size(), size);
  return size < 2 || size > runtime::code_members_max ? 0 : size;
}

std::string list(const std::vector<int>& ranks) {
  constexpr std::size_t shown_max = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), shown_max); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > shown_max) text += " and others";
  return text;
}

std::string in_words(std::size_t bytes, std::size_t regions) {
  return std::to_string(bytes) + " bytes in " + std::to_string(regions) + " parts";
}

// The lowest rank on the host of each rank.
std::vector<int> find_hosts(MPI_Comm comm, int rank, int ranks) {
  MPI_Comm beside = MPI_COMM_NULL;
  PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &beside);
  int lowest = rank;
  PMPI_Bcast(&lowest, 1, MPI_INT, 0, beside);
  PMPI_Comm_free(&beside);
  std::vector<int> hosts(static_cast<std::size_t>(ranks));
  PMPI_Allgather(&lowest, 1, MPI_INT, hosts.data(), 1, MPI_INT, comm);
  return hosts;
}

// What all have, in the order of ranks.
template <typename Item>
std::vector<Item> gather(const std::vector<Item>& mine, int ranks, MPI_Comm comm) {
  const int bytes = static_cast<int>(mine.size() * sizeof(Item));
  std::vector<int> sizes(static_cast<std::size_t>(ranks));
  PMPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
  std::vector<int> offsets;
  int sum = 0;
  for (const int size : sizes) {
    offsets.push_back(sum);
    sum += size;
  }
  std::vector<Item> all(static_cast<std::size_t>(sum) / sizeof(Item));
  PMPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), sizes.data(), offsets.data(), MPI_BYTE,
                  comm);
  return all;
}

// Whether all ranks have a folder in memory that will be removed. If not one of them says why.
bool make_folders(const LastingCheckpoints::Setup& setup, bool has_several_hosts) {
  const int ranks = static_cast<int>(setup.hosts.size());
  const std::string sign = sign_of_life(setup.run_directory);
  std::string why;
  if (!has_several_hosts) return true;
  if (access(sign.c_str(), F_OK) != 0)
    why = "a host does not see " + sign + "; let --run-dir name a folder that all hosts share";
  else if (const int error = make_folder(setup.folder))
    why = setup.folder + ": " + std::strerror(error);
  else if (setup.hosts[static_cast<std::size_t>(setup.rank)] == setup.rank &&
           !watch_over(setup.folder, sign))
    why = "no process can be started that removes " + setup.folder;
  int speaker = why.empty() ? ranks : setup.rank;
  PMPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, setup.comm);
  if (speaker == setup.rank)
    std::fprintf(stderr, "resprout: no checkpoints are kept: rank %d: %s\n", setup.rank,
                 why.c_str());
  return speaker == ranks;
}

// What all ranks need of each other, whatever is kept.
struct Meeting {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> hosts;
};

const Meeting& meeting() {
  static const Meeting met = [] {
    const World& world = *World::current();
    Meeting made;
    PMPI_Comm_dup(MPI_COMM_WORLD, &made.comm);
    made.hosts = find_hosts(made.comm, world.rank(), world.size());
    return made;
  }();
  return met;
}

bool may_keep(const Options& options) {
  return is_started_again(options) && !setting("RESPROUT_CHECKPOINT_MEMORY").empty();
}

LastingCheckpoints* make() {
  World& world = *World::current();
  if (!may_keep(world.options())) return nullptr;
  const std::string pattern = setting("RESPROUT_CHECKPOINT_MEMORY");
  const std::string life = setting("RESPROUT_RESTART");
  const std::string resume = setting("RESPROUT_RESUME");
  const std::string files = setting("RESPROUT_CHECKPOINT_DIR");
  LastingCheckpoints::Setup setup{.folder = folder_on_this_host(pattern),
                                  .run_directory = world.options().run_directory,
                                  .files = files.empty() ? resume : files,
                                  .rank = world.rank(),
                                  .is_later_life = !life.empty() && life != "0",
                                  .resumes = !resume.empty()};
  const std::string every = setting("RESPROUT_FILES_EVERY");
  int given = files_every_default;
  std::from_chars(every.data(), every.data() + every.size(), given);
  setup.files_every = std::max(1, given);
  setup.code_size = read_code(setting("RESPROUT_CHECKPOINT_CODE"));
  setup.comm = meeting().comm;
  setup.hosts = meeting().hosts;
  if (!make_folders(setup, is_for_several_hosts(pattern))) return nullptr;
  return new LastingCheckpoints(std::move(setup));
}

LastingCheckpoints* made_here = nullptr;

}  // namespace

LastingCheckpoints* LastingCheckpoints::of_process() {
  static const bool is_tried = [] {
    made_here = make();
    return true;
  }();
  return is_tried ? made_here : nullptr;
}

void LastingCheckpoints::meet() {
  if (may_keep(World::current()->options())) meeting();
}

LastingCheckpoints* LastingCheckpoints::if_any() { return made_here; }

LastingCheckpoints::LastingCheckpoints(Setup setup)
    : setup_(std::move(setup)),
      store_(setup_.folder, "rank-" + std::to_string(setup_.rank), digest_of_block) {
  if (setup_.code_size > 0)
    code_.emplace(setup_.folder, setup_.hosts, setup_.code_size, setup_.rank, setup_.comm,
                  digest_of_block);
  else
    copies_.emplace(setup_.folder, setup_.hosts, setup_.rank, setup_.comm, digest_of_block);
  if (!setup_.files.empty())
    files_.emplace(setup_.files, setup_.files_every, setup_.rank, ranks(), digest_of_block);
}

int LastingCheckpoints::take(const Regions& regions) {
  const bool may_go_back = setup_.is_later_life || setup_.resumes;
  if (!std::exchange(has_begun_, true) && may_go_back && go_back(regions)) return MPI_SUCCESS;
  if (copies_) copies_->finish();
  settle();
  return keep(regions);
}

void LastingCheckpoints::finish() {
  if (copies_) copies_->finish();
  if (files_) files_->wait();
  settle();
  if (!copies_) return;
  const PartnerCopies::Figures& figures = copies_->figures();
  if (setup_.rank == 0 && World::current()->options().verbose && figures.whole_bytes > 0)
    std::fprintf(stderr,
                 "resprout: rank 0: copies of checkpoints on other hosts: %llu of %llu bytes had "
                 "changed and were sent\n",
                 static_cast<unsigned long long>(figures.sent_bytes),
                 static_cast<unsigned long long>(figures.whole_bytes));
}

// What all have by now.
void LastingCheckpoints::settle() {
  const CheckpointFiles::Written written = files_ ? files_->written() : CheckpointFiles::Written{};
  std::array<std::uint64_t, 3> all_have{own_, written.last, written.before};
  PMPI_Allreduce(MPI_IN_PLACE, all_have.data(), 3, MPI_UINT64_T, MPI_MIN, setup_.comm);
  if (all_have[0] > whole_) say_that_it_counts();
  whole_ = all_have[0];
  if (files_) files_->count({all_have[1], all_have[2]});
}

// Who could not keep its part, or another's copy, has nothing of this generation.
int LastingCheckpoints::keep(const Regions& regions) {
  ++newest_;
  if (files_) files_->make_way(newest_);
  const runtime::ImageName name{newest_, whole_, setup_.rank, ranks()};
  const int own_error = store_.keep(name, regions.parts(), whole_);
  if (own_error != 0) say_no_room(own_error, regions.bytes(), setup_.rank);
  std::optional<Image> image;
  if (own_error == 0) image = store_.newest();
  if (image && files_) files_->take(*image);
  const int error = protect_part(image ? &*image : nullptr, newest_);
  if (error != 0) say_no_room(error, regions.bytes(), -1);
  const bool is_kept = own_error == 0 && error == 0;
  own_ = is_kept ? newest_ : whole_;
  return is_kept ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int LastingCheckpoints::protect_part(const Image* image, std::uint64_t generation) {
  return code_ ? code_->keep(image, generation, whole_) : copies_->start(image, whole_);
}

void LastingCheckpoints::say_no_room(int error, std::size_t bytes, int of) const {
  const char* what = of == setup_.rank ? "a checkpoint"
                     : code_           ? "a share of the code"
                                       : "the copy of another rank's checkpoint";
  std::fprintf(stderr,
               "resprout: rank %d: no room for %s in %s (%zu bytes are protected here, and two are "
               "kept at a time): %s\n",
               setup_.rank, what, setup_.folder.c_str(), bytes, std::strerror(error));
}

// --- going back
// -------------------------------------------------------------------------------------

bool LastingCheckpoints::go_back(const Regions& regions) {
  if (setup_.is_later_life) look_into_memory();
  runtime::Recovery recovery = find_whole();
  if (recovery.generation == 0 && files_) {
    const std::uint64_t counted = recovery.counted;
    const std::string lost = list(recovery.lost);
    look_into_files();
    recovery = find_whole();
    if (recovery.generation > 0 && counted > recovery.generation && setup_.rank == 0)
      std::fprintf(stderr,
                   "resprout: checkpoint %llu is lost, of %s: the job goes on from checkpoint %llu "
                   "in %s\n",
                   static_cast<unsigned long long>(counted), lost.c_str(),
                   static_cast<unsigned long long>(recovery.generation), setup_.files.c_str());
  }
  newest_ = recovery.newest;
  if (begins_anew(recovery)) return false;
  pass_on(recovery);
  rebuild(recovery);
  const Image image = store_.newest();
  end_job_unless(fits(image, regions.parts()),
                 "rank " + std::to_string(setup_.rank) + " protects " +
                     in_words(regions.bytes(), regions.parts().size()) +
                     ", and its checkpoint has " + in_words(image.data.size(), image.sizes.size()));
  put_back(image, regions.parts());
  whole_ = recovery.generation;
  if (recovery.of_owners.front().place == Held::file) files_->set_written(whole_);
  // Partners may be others than before.
  if (copies_) copies_->set_base(image);
  own_ = whole_;
  if (const int error = protect_part(&image, whole_)) say_no_room(error, regions.bytes(), -1);
  found_.clear();
  shares_.clear();
  read_.clear();
  return true;
}

bool LastingCheckpoints::begins_anew(const runtime::Recovery& recovery) {
  if (recovery.generation > 0) return false;
  end_job_unless(recovery.counted == 0, "checkpoint " + std::to_string(recovery.counted) +
                                            " is lost: nobody has the part of " +
                                            list(recovery.lost));
  end_job_unless(!setup_.resumes || setup_.is_later_life,
                 "--resume: " + setup_.files + " has no checkpoint that is whole");
  return true;
}

void LastingCheckpoints::add(const Image& image, Held place) {
  if (image.name.ranks != ranks()) return;
  found_.push_back({{.holder = setup_.rank,
                     .owner = image.name.rank,
                     .place = place,
                     .generation = image.name.generation,
                     .counted = image.name.counted,
                     .bytes = image.all.size()},
                    image});
}

// Its own, and of all others that are on this host its share: who was here in an earlier life, and
// copies.
void LastingCheckpoints::look_into_memory() {
  for (const Image& image : store_.kept()) add(image, Held::own_memory);
  const std::vector<int> beside = runtime::ranks_beside(setup_.hosts, setup_.rank);
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(setup_.folder, none)) {
    const std::string name = entry.path().filename();
    const std::size_t digits = name.find('-') + 1;
    int owner = -1;
    std::from_chars(name.data() + digits, name.data() + name.size(), owner);
    if (owner < 0 || owner >= ranks()) continue;
    const bool is_own = name.starts_with("rank-");
    const bool is_copy = name.starts_with("copy-");
    const bool is_here = std::binary_search(beside.begin(), beside.end(), owner);
    if (is_here && is_own) continue;
    const int reader = beside[static_cast<std::size_t>(owner) % beside.size()];
    if ((is_here ? owner : reader) != setup_.rank) continue;
    auto file = std::make_unique<runtime::MappedFile>();
    if (!file->open_to_read(entry.path())) continue;
    const auto image = is_own || is_copy ? runtime::read_head(file->memory(), digest_of_block)
                                         : runtime::read_image(file->memory(), digest_of_block);
    if (!image) continue;
    if (is_own || is_copy)
      add(*image, Held::other_memory);
    else if (const auto share = CodeParts::read(*image, setup_.rank, ranks()))
      shares_.push_back(*share);
    read_.push_back(std::move(file));
  }
}

void LastingCheckpoints::look_into_files() {
  for (const Image& image : files_->store().find()) add(image, Held::file);
}

runtime::Recovery LastingCheckpoints::find_whole() {
  for (;;) {
    runtime::Recovery recovery = find_common();
    const auto is_to_go = [&](const Found& found) {
      const auto is_it = [&](const Holding& part) {
        return part.holder == setup_.rank && part.owner == found.holding.owner &&
               part.place == found.holding.place && part.generation == found.holding.generation;
      };
      return std::ranges::any_of(recovery.of_owners, is_it) && is_damaged(found);
    };
    int are_damaged = std::erase_if(found_, is_to_go) > 0 ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &are_damaged, 1, MPI_INT, MPI_MAX, setup_.comm);
    if (are_damaged == 0) return recovery;
  }
}

bool LastingCheckpoints::is_damaged(const Found& found) {
  if (found.holding.place == Held::own_memory) return !store_.find(found.holding.generation);
  // The others were read when they came out of a file.
  return found.holding.place == Held::other_memory &&
         !runtime::read_image(found.image.all, digest_of_block);
}

runtime::Recovery LastingCheckpoints::find_common() const {
  std::vector<Holding> mine;
  for (const Found& found : found_) mine.push_back(found.holding);
  const std::vector<Holding> all = gather(mine, ranks(), setup_.comm);
  if (!code_) return find_recovery(all, {}, ranks());
  std::vector<runtime::CodeHolding> shares;
  for (const FoundShare& found : shares_) shares.push_back(found.holding);
  return find_recovery(all, gather(shares, ranks(), setup_.comm), ranks());
}

const Image* LastingCheckpoints::find(int owner, std::uint64_t generation) const {
  for (const Found& found : found_)
    if (found.holding.owner == owner && found.holding.generation == generation) return &found.image;
  return nullptr;
}

// Each part to its owner, who has it in its own memory then.
void LastingCheckpoints::pass_on(const runtime::Recovery& recovery) {
  std::vector<MPI_Request> requests;
  const auto in_pieces = [](std::size_t bytes, auto each) {
    for (std::size_t done = 0; done < bytes; done += passed_on_at_once)
      each(done, static_cast<int>(std::min(passed_on_at_once, bytes - done)));
  };
  for (const Holding& part : recovery.of_owners) {
    if (part.holder != setup_.rank || part.owner == setup_.rank) continue;  // no rebuilt one's
    const Image& image = *find(part.owner, part.generation);
    in_pieces(part.bytes, [&](std::size_t at, int bytes) {
      requests.emplace_back();
      PMPI_Isend(image.all.data() + at, bytes, MPI_BYTE, part.owner, 0, setup_.comm,
                 &requests.back());
    });
  }
  const Holding& own = recovery.of_owners[static_cast<std::size_t>(setup_.rank)];
  std::span<std::byte> into;
  int error = 0;
  const bool has_it = own.place == Held::own_memory && own.holder == setup_.rank;
  if (has_it) store_.choose(own.generation);
  if (!has_it) error = store_.begin(own.bytes, 0, into);
  end_job_unless(error == 0, "rank " + std::to_string(setup_.rank) +
                                 " has no room for its checkpoint in " + setup_.folder + ": " +
                                 std::strerror(error));
  const bool is_rebuilt = own.place == Held::code;
  if (!has_it && !is_rebuilt && own.holder == setup_.rank) {
    const Image& image = *find(setup_.rank, own.generation);
    std::copy(image.all.begin(), image.all.end(), into.begin());
  } else if (!has_it && !is_rebuilt) {
    in_pieces(own.bytes, [&](std::size_t at, int bytes) {
      PMPI_Recv(into.data() + at, bytes, MPI_BYTE, own.holder, 0, setup_.comm, MPI_STATUS_IGNORE);
    });
  }
  if (!has_it && !is_rebuilt) store_.finish({});
  PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

// After the parts that there are have come to their owners: those that follow from them.
void LastingCheckpoints::rebuild(const runtime::Recovery& recovery) {
  std::span<std::byte> into;
  bool is_right = true;
  for (const runtime::Rebuilt& it : recovery.rebuilt) {
    const bool is_mine = it.owner == setup_.rank;
    const auto members = it.group.ranks();
    const bool is_member =
        !is_mine && std::find(members.begin(), members.end(), setup_.rank) != members.end();
    const Holding& part = recovery.of_owners[static_cast<std::size_t>(it.owner)];
    // pass_on() has made sure that there is room.
    if (is_mine) store_.begin(part.bytes, 0, into);
    const std::optional<Image> own = is_member ? std::optional(store_.newest()) : std::nullopt;
    CodeParts::rebuild(
        it, setup_.rank, setup_.comm, own ? &*own : nullptr,
        [&](int keeper) { return find_share(keeper, part.generation, it.group); }, into);
    if (!is_mine) continue;
    const auto image = runtime::read_image(into, digest_of_block);
    is_right =
        image && image->name.generation == part.generation && image->name.rank == setup_.rank;
    if (is_right) store_.finish({});
  }
  if (recovery.rebuilt.empty()) return;
  end_job_unless(is_right, "checkpoint " + std::to_string(recovery.generation) +
                               " is lost: the part of rank " + std::to_string(setup_.rank) +
                               " does not follow from those of its group");
  if (setup_.rank != recovery.rebuilt.front().owner) return;
  std::vector<int> owners;
  for (const runtime::Rebuilt& it : recovery.rebuilt) owners.push_back(it.owner);
  std::fprintf(stderr, "resprout: checkpoint %llu: the part of %s was lost, and rebuilt\n",
               static_cast<unsigned long long>(recovery.generation), list(owners).c_str());
}

const FoundShare* LastingCheckpoints::find_share(int keeper, std::uint64_t generation,
                                                 const runtime::CodeGroup& group) const {
  for (const FoundShare& found : shares_)
    if (found.holding.keeper == keeper && found.holding.generation == generation &&
        found.holding.group == group)
      return &found;
  return nullptr;
}

void LastingCheckpoints::end_job_unless(bool may_go_on, const std::string& why) {
  int speaker = may_go_on ? ranks() : setup_.rank;
  PMPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, setup_.comm);
  if (speaker == ranks()) return;
  if (speaker == setup_.rank)
    World::current()->end_job(lost_exit_status, "resprout: the job ends: " + why);
  for (;;) pause();
}

// For the launcher: a life that came to a new checkpoint has got somewhere.
void LastingCheckpoints::say_that_it_counts() {
  if (setup_.rank != 0 || std::exchange(has_said_, true)) return;
  const int file = open((setup_.run_directory + "/checkpoint-counts").c_str(),
                        O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

}  // namespace resprout::shim
