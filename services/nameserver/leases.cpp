#include "services/nameserver/leases.h"

#include <algorithm>
#include <random>
#include <sstream>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/os/lock.h"

namespace corelane::nameserver {
namespace {

LeaseId random_id() {
  static thread_local std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

// An owner's text is "process <lease> <boot id> <pid namespace> <pid> <start>" or "lease <lease> <milliseconds>". Both
// end with "<taker> <taker's process>".
std::string taker_text(const Client& taker) {
  return taker.name.empty() ? "" : " " + taker.name + " " + std::to_string(taker.process);
}

std::string owner_text(LeaseId id, const os::ProcessIdentity& process, const Client& taker) {
  const os::HostIdentity& host = os::this_host();
  return "process " + std::to_string(id) + " " + host.boot_id + " " + std::to_string(host.pid_namespace) + " " +
         std::to_string(process.pid) + " " + std::to_string(process.start_ticks) + taker_text(taker);
}

std::int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::string owner_text(LeaseId id, Duration lasts, const Client& taker) {
  return "lease " + std::to_string(id) + " " + std::to_string(milliseconds(lasts)) + taker_text(taker);
}

// A call within the process comes from the nameserver's own program, which may use every lease.
bool may_use(const Client& taker, std::int32_t owner_process, const Client& by) {
  if (taker.name.empty() || by.name.empty()) return true;
  if (by.name != taker.name) return false;
  return by.process == taker.process || (owner_process != 0 && by.process == owner_process);
}

}  // namespace

std::string text_of_owner(const std::string& owner) {
  std::istringstream words(owner);
  std::string kind, id, boot, space, number;
  words >> kind >> id;
  if (kind == "process" && words >> boot >> space >> number) return "process " + number;
  if (kind == "lease" && words >> number) return "a lease of " + number + " ms";
  return owner.empty() ? "" : "another nameserver's lease";
}

Expected<Leases::Granted, std::string> Leases::add(LeaseId id, Lease lease) {
  const os::LockGuard lock(mutex_);
  if (leases_.size() >= limits_.leases)
    return counted(limits_.leases, "lease is", "leases are") + " given, as many as there may be; see naming.leases";
  const auto is_of_client = [&](const auto& item) { return item.second.taker.name == lease.taker.name; };
  const auto held = static_cast<std::size_t>(std::count_if(leases_.begin(), leases_.end(), is_of_client));
  if (!lease.taker.name.empty() && held >= limits_.of_client)
    return std::string(lease.taker.name + " has " + counted(held, "lease") +
                       ", as many as one client may have; end some, or see naming.client_leases");
  Granted granted{id, lease.owner, lease.lasts};
  leases_.emplace(id, std::move(lease));
  return granted;
}

bool Leases::go_on(LeaseId id, Lease lease) {
  const os::LockGuard lock(mutex_);
  return leases_.emplace(id, std::move(lease)).second;
}

Expected<Leases::Granted, std::string> Leases::grant(const os::ProcessIdentity& process, const Client& to) {
  if (!os::is_alive(process))
    return std::string("no process " + std::to_string(process.pid) + " of this start time runs here");
  const LeaseId id = random_id();
  return add(id, {.taker = to, .owner = owner_text(id, process, to), .process = process});
}

Expected<Leases::Granted, std::string> Leases::grant(Duration wanted, const Client& to, Time now) {
  const Duration lasts = std::clamp(wanted, shortest, limits_.longest);
  const LeaseId id = random_id();
  return add(id, {.taker = to, .owner = owner_text(id, lasts, to), .lasts = lasts, .ends = now + lasts});
}

const Leases::Lease* Leases::usable(LeaseId id, const Client& by, Time now) const {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.ends <= now) return nullptr;
  return may_use(found->second.taker, found->second.process.pid, by) ? &found->second : nullptr;
}

bool Leases::renew(LeaseId id, const Client& by, Time now) {
  const os::LockGuard lock(mutex_);
  if (usable(id, by, now) == nullptr) return false;
  Lease& lease = leases_.at(id);
  if (lease.process.pid == 0) lease.ends = now + lease.lasts;
  return true;
}

std::optional<std::string> Leases::owner_of(LeaseId id, const Client& by, Time now) const {
  const os::LockGuard lock(mutex_);
  const Lease* const lease = usable(id, by, now);
  return lease == nullptr ? std::nullopt : std::optional(lease->owner);
}

bool Leases::end(LeaseId id, const Client& by) {
  const os::LockGuard lock(mutex_);
  if (usable(id, by, Time{}) == nullptr) return false;
  left_.push_back(std::move(leases_.at(id).owner));
  leases_.erase(id);
  return true;
}

void Leases::leave(std::string owner) {
  const os::LockGuard lock(mutex_);
  left_.push_back(std::move(owner));
}

std::vector<std::string> Leases::take_expired(Time now) {
  const os::LockGuard lock(mutex_);
  std::vector<std::string> owners = std::exchange(left_, {});
  std::erase_if(leases_, [&](const auto& item) {
    const bool over = item.second.ends <= now;
    if (over) owners.push_back(item.second.owner);
    return over;
  });
  return owners;
}

std::vector<std::string> Leases::take_of(const os::ProcessIdentity& process) {
  std::vector<std::string> owners;
  const os::LockGuard lock(mutex_);
  std::erase_if(leases_, [&](const auto& item) {
    const bool is_of_process = item.second.process == process;
    if (is_of_process) owners.push_back(item.second.owner);
    return is_of_process;
  });
  return owners;
}

Time Leases::next_expiry() const {
  const os::LockGuard lock(mutex_);
  Time earliest = left_.empty() ? never : Time{};
  for (const auto& [id, lease] : leases_) earliest = std::min(earliest, lease.ends);
  return earliest;
}

bool Leases::restore(const std::string& owner, Time now) {
  std::istringstream words(owner);
  std::string kind;
  LeaseId id = 0;
  if (!(words >> kind >> id)) return false;
  Client taker;
  if (std::int64_t ms = 0; kind == "lease" && words >> ms) {
    if (!(words >> taker.name >> taker.process)) taker = {};
    using Milliseconds = std::chrono::milliseconds;  // the text may name more milliseconds than a Duration can hold
    const auto longest = std::chrono::floor<Milliseconds>(limits_.longest);
    const Duration lasts = std::clamp(Milliseconds{ms}, std::chrono::ceil<Milliseconds>(shortest), longest);
    return go_on(id, {.taker = taker, .owner = owner, .lasts = lasts, .ends = now + lasts});
  }
  os::HostIdentity host = os::this_host();
  os::ProcessIdentity process;
  if (kind != "process" || !(words >> host.boot_id >> host.pid_namespace >> process.pid >> process.start_ticks))
    return false;
  if (!(words >> taker.name >> taker.process)) taker = {};
  return host == os::this_host() && os::is_alive(process) &&
         go_on(id, {.taker = taker, .owner = owner, .process = process});
}

std::set<std::string> Leases::owners() const {
  const os::LockGuard lock(mutex_);
  std::set<std::string> owners(left_.begin(), left_.end());
  for (const auto& [id, lease] : leases_) owners.insert(lease.owner);
  return owners;
}

std::vector<os::ProcessIdentity> Leases::processes() const {
  std::vector<os::ProcessIdentity> found;
  const os::LockGuard lock(mutex_);
  for (const auto& [id, lease] : leases_)
    if (lease.process.pid != 0) found.push_back(lease.process);
  return found;
}

std::size_t Leases::size() const {
  const os::LockGuard lock(mutex_);
  return leases_.size();
}

}  // namespace corelane::nameserver
