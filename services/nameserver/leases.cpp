#include "services/nameserver/leases.h"

#include <algorithm>
#include <random>
#include <sstream>

namespace corelane::nameserver {
namespace {

LeaseId random_id() {
  static thread_local std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

// "process <lease> <boot id> <pid namespace> <pid> <start>", "lease <lease> <milliseconds>".
std::string owner_text(LeaseId id, const os::ProcessIdentity& process) {
  const os::HostIdentity& host = os::this_host();
  return "process " + std::to_string(id) + " " + host.boot_id + " " + std::to_string(host.pid_namespace) + " " +
         std::to_string(process.pid) + " " + std::to_string(process.start_ticks);
}

std::int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::string owner_text(LeaseId id, Duration lasts) {
  return "lease " + std::to_string(id) + " " + std::to_string(milliseconds(lasts));
}

}  // namespace

Expected<Leases::Granted, std::string> Leases::add(LeaseId id, Lease lease) {
  const std::lock_guard lock(mutex_);
  if (leases_.size() >= limits_.leases)
    return std::string("all " + std::to_string(limits_.leases) + " leases are given; see naming.leases");
  Granted granted{id, lease.owner, lease.lasts};
  leases_.emplace(id, std::move(lease));
  return granted;
}

Expected<Leases::Granted, std::string> Leases::grant(const os::ProcessIdentity& process) {
  if (!os::is_alive(process))
    return std::string("no process " + std::to_string(process.pid) + " of this start time runs here");
  const LeaseId id = random_id();
  return add(id, {.owner = owner_text(id, process), .process = process});
}

Expected<Leases::Granted, std::string> Leases::grant(Duration wanted, Time now) {
  const Duration lasts = std::clamp(wanted, shortest, std::max(shortest, limits_.longest));
  const LeaseId id = random_id();
  return add(id, {.owner = owner_text(id, lasts), .lasts = lasts, .ends = now + lasts});
}

bool Leases::renew(LeaseId id, Time now) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.ends <= now) return false;
  if (found->second.process.pid == 0) found->second.ends = now + found->second.lasts;
  return true;
}

std::optional<std::string> Leases::owner_of(LeaseId id, Time now) const {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.ends <= now) return std::nullopt;
  return found->second.owner;
}

std::optional<std::string> Leases::end(LeaseId id) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found == leases_.end()) return std::nullopt;
  std::string owner = std::move(found->second.owner);
  leases_.erase(found);
  return owner;
}

std::vector<std::string> Leases::take_expired(Time now) {
  std::vector<std::string> owners;
  const std::lock_guard lock(mutex_);
  std::erase_if(leases_, [&](const auto& item) {
    const bool over = item.second.ends <= now;
    if (over) owners.push_back(item.second.owner);
    return over;
  });
  return owners;
}

std::vector<std::string> Leases::take_of(const os::ProcessIdentity& process) {
  std::vector<std::string> owners;
  const std::lock_guard lock(mutex_);
  std::erase_if(leases_, [&](const auto& item) {
    const bool his = item.second.process == process;
    if (his) owners.push_back(item.second.owner);
    return his;
  });
  return owners;
}

Time Leases::next_expiry() const {
  Time earliest = never;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, lease] : leases_) earliest = std::min(earliest, lease.ends);
  return earliest;
}

bool Leases::restore(const std::string& owner, Time now) {
  std::istringstream words(owner);
  std::string kind;
  LeaseId id = 0;
  if (!(words >> kind >> id)) return false;
  if (std::int64_t ms = 0; kind == "lease" && words >> ms) {
    const Duration lasts = std::clamp(Duration(std::chrono::milliseconds{ms}), shortest, limits_.longest);
    return add(id, {.owner = owner, .lasts = lasts, .ends = now + lasts}).has_value();
  }
  os::HostIdentity host = os::this_host();
  os::ProcessIdentity process;
  if (kind != "process" || !(words >> host.boot_id >> host.pid_namespace >> process.pid >> process.start_ticks))
    return false;
  return host == os::this_host() && os::is_alive(process) && add(id, {.owner = owner, .process = process});
}

std::vector<os::ProcessIdentity> Leases::processes() const {
  std::vector<os::ProcessIdentity> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, lease] : leases_)
    if (lease.process.pid != 0) found.push_back(lease.process);
  return found;
}

std::size_t Leases::size() const {
  const std::lock_guard lock(mutex_);
  return leases_.size();
}

}  // namespace corelane::nameserver
