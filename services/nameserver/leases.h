// Leases decides how long ephemeral names live: as long as a process runs, or until a lease is not renewed. One lease
// is one owner of names in the store. The owner's text holds all that a restarted nameserver needs to continue the
// lease.
//
// A lease can be used by the process that took it and by the process that it is tied to. If it was taken over the
// network, the host that took it can use it.
//
// The caller passes in the time.
// Threads: any; one mutex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/machine/host.h"
#include "orb/os/mutex.h"
#include "services/nameserver/clients.h"

namespace corelane::nameserver {

using LeaseId = std::uint64_t;  // random, so that no client ends another client's lease by chance

struct LeaseLimits {
  std::size_t leases = 10'000;
  std::size_t of_client = 1000;
  Duration longest = std::chrono::hours{1};  // at least Leases::shortest; a smaller value counts as that
};

class Leases {
 public:
  static constexpr Duration shortest = std::chrono::milliseconds{100};

  explicit Leases(const LeaseLimits& limits) : limits_(limits) { limits_.longest = std::max(limits.longest, shortest); }

  struct Granted {
    LeaseId id;
    std::string owner;
    Duration lasts;  // zero: as long as the process runs
  };
  // Grants a lease, or returns why not, as a sentence with its remedy. The caller checks that the process is of this
  // host.
  Expected<Granted, std::string> grant(const os::ProcessIdentity& process, const Client& to);
  Expected<Granted, std::string> grant(Duration wanted, const Client& to, Time now);

  // renew() returns false, and owner_of() nothing, if the lease is not known, has ended, or belongs to another client.
  bool renew(LeaseId id, const Client& by, Time now);
  std::optional<std::string> owner_of(LeaseId id, const Client& by, Time now) const;
  // Ends the lease. take_expired() returns its owner next, so that its names are removed. Returns false as renew()
  // does.
  bool end(LeaseId id, const Client& by);
  // Makes take_expired() return the owner. For names that the store did not remove, or that were bound too late.
  void leave(std::string owner);
  // take_expired() returns the owners whose lease has expired or was ended, and the owners that leave() got. take_of()
  // returns the owners whose lease is tied to the process. Both forget these leases.
  std::vector<std::string> take_expired(Time now);
  std::vector<std::string> take_of(const os::ProcessIdentity& process);
  // Returns when take_expired() next has an owner to return, if no lease is renewed. A time in the past means now.
  Time next_expiry() const;

  // Continues the lease of an owner that the store holds. A timed lease starts again with its whole length. The limits
  // on the number of leases do not apply. Returns false if the process has ended, or if the text is not understood.
  bool restore(const std::string& owner, Time now);
  // Returns the owners of all leases, and those that take_expired() will return.
  std::set<std::string> owners() const;
  std::vector<os::ProcessIdentity> processes() const;
  std::size_t size() const;

 private:
  struct Lease {
    Client taker{};  // empty name: any client may use it, because an older nameserver did not record the taker
    std::string owner;
    os::ProcessIdentity process{};  // pid 0: timed
    Duration lasts{};
    Time ends = never;
  };
  Expected<Granted, std::string> add(LeaseId id, Lease lease);
  bool go_on(LeaseId id, Lease lease);  // false: the number is taken
  const Lease* usable(LeaseId id, const Client& by, Time now) const CORELANE_REQUIRES(mutex_);

  LeaseLimits limits_;  // constant after construction
  mutable os::Mutex mutex_;
  std::map<LeaseId, Lease> leases_ CORELANE_GUARDED_BY(mutex_);
  std::vector<std::string> left_ CORELANE_GUARDED_BY(mutex_);
};

// Returns the owner of an ephemeral name in the form for people: "process 4711", "a lease of 30000 ms". It does not
// show the lease's number, which only the taker may know.
std::string text_of_owner(const std::string& owner);

}  // namespace corelane::nameserver
