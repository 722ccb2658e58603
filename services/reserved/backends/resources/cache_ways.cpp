#include "services/reserved/backends/resources/cache_ways.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <ranges>
#include <utility>

#include "orb/os/log.h"

namespace corelane::reserved {
namespace {

constexpr const char* cache_prefix = "corelane-c";
constexpr std::string_view cache_level = "L3:";

template <typename Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number number{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return fault == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

WayMask ways_in(const GroupFiles& resctrl, const std::string& group) {
  WayMask ways = 0;
  for (const auto& [cache, mask] : parse_schemata(resctrl.read(group + "/schemata").value_or(""))) ways |= mask;
  return ways;
}

WayMask lowest(int ways) noexcept { return ways >= 64 ? ~WayMask{0} : (WayMask{1} << ways) - 1; }

constexpr const char* ways_meaning =
    "no other process fills these ways of the last-level cache, in each cache of that level (resctrl); the memory "
    "controllers behind it are shared as before";

}  // namespace

std::map<int, WayMask> parse_schemata(std::string_view text) {
  std::map<int, WayMask> masks;
  const std::size_t begin = text.find(cache_level);
  if (begin == text.npos) return masks;
  text = text.substr(begin + cache_level.size());
  text = text.substr(0, text.find('\n'));
  for (const auto part : std::views::split(text, ';')) {
    const std::string_view one(part.begin(), part.end());
    const std::size_t equals = one.find('=');
    if (equals == one.npos) continue;
    const auto cache = number_in<int>(one.substr(0, equals), 10);
    const auto mask = number_in<WayMask>(one.substr(equals + 1), 16);
    if (cache && mask) masks[*cache] = *mask;
  }
  return masks;
}

std::string schemata_text(const std::map<int, WayMask>& masks) {
  std::string text(cache_level);
  for (const auto& [cache, mask] : masks) {
    char digits[16];
    const auto [end, fault] = std::to_chars(std::begin(digits), std::end(digits), mask, 16);
    text += (text.size() > cache_level.size() ? ";" : "") + std::to_string(cache) + "=" + std::string(digits, end);
  }
  return text;
}

WayMask longest_run(WayMask mask) noexcept {
  WayMask best = 0;
  for (WayMask rest = mask; rest != 0;) {  // bound: the runs of ones, at most 32
    const int skipped = std::countr_zero(rest), length = std::countr_one(rest >> skipped);
    const WayMask run = lowest(length) << skipped;
    if (std::popcount(run) >= std::popcount(best)) best = run;
    rest &= ~run;
  }
  return best;
}

CacheWays::CacheWays(const Host& host) : host_(host) {
  offer_ = {.which = Resource::cache, .promise = ResourcePromise::exclusive, .meaning = host.resctrl_lack};
  if (host_.resctrl == nullptr) return;
  const auto number = [&](const char* file, int base) {
    return number_in<WayMask>(host_.resctrl->read(std::string("info/L3/") + file).value_or(""), base).value_or(0);
  };
  all_ = number("cbm_mask", 16);
  shared_with_devices_ = number("shareable_bits", 16);
  least_ = static_cast<int>(std::max<WayMask>(number("min_cbm_bits", 10), 1));
  const int ways = std::popcount(all_);
  offer_.least = static_cast<std::uint64_t>(least_);
  offer_.most = static_cast<std::uint64_t>(std::max(ways - least_, 0));
  offer_.meaning = offer_.most > 0
                       ? ways_meaning
                       : host_.resctrl->absolute("info/L3") +
                             " names no cache ways: this processor cannot partition its last-level cache, or resctrl "
                             "is mounted with cdp; umount it, and mount -t resctrl resctrl /sys/fs/resctrl";
  take_over_left();
}

// Takes over the groups that are still in the journal because restore() could not remove them.
void CacheWays::take_over_left() {
  for (const JournalEntry& entry : host_.journal->entries())
    if (entry.kind == JournalEntry::Kind::group && entry.where == "resctrl")
      left_[entry.subject] = ways_in(*host_.resctrl, entry.subject);
  if (const JournalEntry* const kept = kept_before()) {
    before_ = parse_schemata(kept->before);
    is_too_narrow_ = true;
  }
}

// ---- Ways ----

WayMask CacheWays::given_ways() const {
  WayMask ways = 0;
  for (const auto& [id, given] : given_) ways |= given.mask;
  for (const auto& [group, mask] : left_) ways |= mask;
  return ways;
}

bool CacheWays::is_own(const std::string& group) const {
  return left_.contains(group) ||
         std::ranges::any_of(given_, [&](const auto& item) { return group_of(item.first) == group; });
}

// Returns the groups of other programs and their ways. They may also belong to another daemon, or to an earlier daemon
// whose journal is lost.
std::map<std::string, WayMask> CacheWays::groups_of_others() const {
  std::map<std::string, WayMask> groups;
  for (const std::string& name : host_.resctrl->children(""))
    if (!is_own(name) && name != "info" && !name.starts_with("mon_")) groups[name] = ways_in(*host_.resctrl, name);
  return groups;
}

WayMask CacheWays::ways_of_others() const {
  WayMask ways = 0;
  for (const auto& [group, mask] : groups_of_others()) ways |= mask;
  return ways;
}

// Says which groups have the missing ways, and how to free them.
std::string CacheWays::others_text() const {
  std::string names, ours;
  for (const auto& [group, mask] : groups_of_others()) {
    names += (names.empty() ? "" : ", ") + group;
    if (group.starts_with(cache_prefix)) ours = group;
  }
  if (names.empty()) return "reservations in between have them; ask for fewer";
  return "groups of other programs in " + host_.resctrl->absolute("") + " (" + names +
         ") have them, or reservations in between; narrow those groups, or ask for fewer" +
         (ours.empty() ? ""
                       : "; if " + ours + " is no other corelane-reserved's, one that was killed left it: rmdir " +
                             host_.resctrl->absolute(ours));
}

WayMask CacheWays::common_before() const {
  WayMask ways = all_;
  for (const auto& [cache, mask] : before_) ways &= mask;
  return ways;
}

// Returns the lowest run of free ways that still leaves all other programs at least `least_` ways in one piece.
std::optional<WayMask> CacheWays::free_run(int ways) const {
  const WayMask given = given_ways();
  const WayMask free = all_ & ~shared_with_devices_ & ~given & ~ways_of_others();
  for (int at = 0; at + ways <= 64; ++at) {
    const WayMask run = lowest(ways) << at;
    if ((run & ~free) != 0) continue;
    if (std::popcount(longest_run(common_before() & ~given & ~run)) >= least_) return run;
  }
  return std::nullopt;
}

// Returns the journal entry with the schemata that the root group had before the first grant. The entry stays until the
// root group has them again.
const JournalEntry* CacheWays::kept_before() const {
  const auto& entries = host_.journal->entries();
  const auto found = std::ranges::find_if(entries, [](const JournalEntry& one) {
    return one.kind == JournalEntry::Kind::value && one.where == "resctrl" && one.subject == "schemata";
  });
  return found == entries.end() ? nullptr : &*found;
}

JournalEntry CacheWays::entry_before() const {
  return {
      .kind = JournalEntry::Kind::value, .where = "resctrl", .subject = "schemata", .before = schemata_text(before_)};
}

// Gives the root group the longest run of its former ways that is not given away.
Done<void> CacheWays::shrink_common() {
  auto masks = before_;
  for (auto& [cache, mask] : masks) mask = longest_run(mask & ~given_ways());
  return put(*host_.resctrl, "schemata", schemata_text(masks));
}

// ---- Coming and going ----

Done<Remarks> CacheWays::give(const Portion& portion) {
  const JournalEntry* const kept_entry = kept_before();
  const bool is_first = kept_entry == nullptr;
  before_ = parse_schemata(is_first ? host_.resctrl->read("schemata").value_or("") : kept_entry->before);
  const auto run = free_run(static_cast<int>(portion.amount));
  if (!run)
    return Unexpected{"no " + amount_text(Resource::cache, portion.amount) +
                      " beside each other are free: " + others_text()};
  const auto threads = groups_of_threads();
  const auto in = threads.find(portion.holder.process.pid);
  if (in != threads.end() && !is_own(in->second))
    return Unexpected{"process " + std::to_string(portion.holder.process.pid) + " is in " +
                      host_.resctrl->absolute(in->second) + ", a group of another program; take it out of that first"};
  if (is_first)
    if (auto kept = host_.journal->add(entry_before()); !kept) return Unexpected{kept.error()};
  given_[portion.id] = {.mask = *run, .from = in == threads.end() ? "" : in->second};
  if (auto done = shrink_common(); !done) return Unexpected{done.error()};
  const std::string group = group_of(portion.id);
  if (auto made = make_group(group, *run); !made) return Unexpected{made.error()};
  if (auto come = bring_in(portion, group); !come) return Unexpected{come.error()};
  return Remarks{};
}

Done<void> CacheWays::make_group(const std::string& group, WayMask ways) {
  if (auto kept =
          host_.journal->add({.kind = JournalEntry::Kind::group, .where = "resctrl", .subject = group, .before = ""});
      !kept)
    return kept;
  if (const int fault = host_.resctrl->make(group); fault != 0)
    return host_.resctrl->absolute(group) + " cannot be made: " + errno_text(fault) +
           (fault == ENOSPC ? "; the processor has no more groups: release one first" : "; run as root");
  auto masks = before_;
  for (auto& [cache, mask] : masks) mask = ways;
  if (auto done = put(*host_.resctrl, group + "/schemata", schemata_text(masks)); !done) return done;
  return put(*host_.resctrl, group + "/mode", "exclusive");
}

// Returns the group of each thread. Threads in the root group only are not in the map.
std::map<int, std::string> CacheWays::groups_of_threads() const {
  std::map<int, std::string> groups;
  for (const std::string& name : host_.resctrl->children(""))
    for (const int thread : numbers_of(*host_.resctrl, name + "/tasks")) groups[thread] = name;
  return groups;
}

// Moves all present threads into the group. Later threads start in the group of their parent. Threads of a tree that
// are in another reservation's or program's group stay there.
Done<void> CacheWays::bring_in(const Portion& portion, const std::string& group) {
  const std::string from = given_.at(portion.id).from;
  const auto before = groups_of_threads();
  std::set<int> seen;
  for (int round = 0, fresh = 1; fresh > 0 && round < tree_rounds; ++round) {
    fresh = 0;
    for (const int pid : host_.processes->members_of(portion.holder))
      for (const int thread : host_.processes->threads_of(pid)) {
        if (!seen.insert(thread).second) continue;
        ++fresh;
        const auto was = before.find(thread);
        if (was != before.end() && was->second != from) continue;
        const int fault = host_.resctrl->write(group + "/tasks", std::to_string(thread));
        if (fault != 0 && fault != ESRCH)
          return "thread " + std::to_string(thread) + " cannot be moved into " + host_.resctrl->absolute(group) + ": " +
                 errno_text(fault);
      }
  }
  return {};
}

void CacheWays::take(ReservationId id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;
  const Given given = found->second;
  const std::string group = group_of(id);
  given_.erase(found);
  if (!given.from.empty() && host_.resctrl->has(given.from)) move_all(*host_.resctrl, group, given.from, "tasks");
  left_[group] = given.mask;
  if (const int fault = remove_left(group); fault != 0)
    os::log::warn(host_.resctrl->absolute(group) + " cannot be removed: " + errno_text(fault) +
                  "; no other process gets its ways until a later try succeeds");
  if (auto widened = widen_common(); !widened)
    os::log::warn(widened.error() + "; the others get those ways back when a later try succeeds");
}

std::uint64_t CacheWays::held() const {
  std::uint64_t ways = 0;
  for (const auto& [group, mask] : left_) ways += static_cast<std::uint64_t>(std::popcount(mask));
  return ways;
}

// Removes the group. The kernel moves its threads to the root group.
int CacheWays::remove_left(const std::string& group) {
  const int fault = host_.resctrl->remove(group);
  if (fault != 0) return fault;
  host_.journal->drop({.kind = JournalEntry::Kind::group, .where = "resctrl", .subject = group, .before = ""});
  left_.erase(group);
  return 0;
}

Done<void> CacheWays::widen_common() {
  auto done = shrink_common();
  is_too_narrow_ = !done;
  if (done && given_.empty() && left_.empty()) host_.journal->drop(entry_before());
  return done;
}

// Retries to remove groups. Bound: the groups that could not be removed.
void CacheWays::sweep() {
  if (left_.empty() && !is_too_narrow_) return;
  for (const auto& [group, mask] : std::map(left_)) (void)remove_left(group);  // take() has logged the fault
  (void)widen_common();
}

}  // namespace corelane::reserved
