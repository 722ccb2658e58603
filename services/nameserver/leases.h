// Leases: how long ephemeral names live: as long as a process, or until nobody renews. One lease is one owner of names
// in the store; the owner's text says all that is needed to go on with it when the nameserver runs again.
//
// Time comes in as an argument. Threads: any; one mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/host.h"

namespace corelane::nameserver {

using LeaseId = std::uint64_t;  // random, so that nobody ends another's by chance

struct LeaseLimits {
  std::size_t leases = 10'000;
  Duration longest = std::chrono::hours{1};
};

class Leases {
 public:
  static constexpr Duration shortest = std::chrono::milliseconds{100};

  explicit Leases(const LeaseLimits& limits) : limits_(limits) {}

  struct Granted {
    LeaseId id;
    std::string owner;
    Duration lasts;  // zero: as long as the process
  };
  // Or why not, as a sentence with its remedy. The caller sees to it that it is a process of this host.
  Expected<Granted, std::string> grant(const os::ProcessIdentity& process);
  Expected<Granted, std::string> grant(Duration wanted, Time now);

  // False: it is not known, or has ended.
  bool renew(LeaseId id, Time now);
  std::optional<std::string> owner_of(LeaseId id, Time now) const;
  // Its owner, whose names are to go.
  std::optional<std::string> end(LeaseId id);
  // Owners whose time is over, or whose process is no more: they are forgotten here.
  std::vector<std::string> take_expired(Time now);
  std::vector<std::string> take_of(const os::ProcessIdentity& process);
  // When take_expired() has something to give, unless somebody renews.
  Time next_expiry() const;

  // An owner that the store knew: the lease goes on, a timed one for its whole length. False: it cannot; the process is
  // no more, or the text says nothing to us.
  bool restore(const std::string& owner, Time now);
  std::vector<os::ProcessIdentity> processes() const;
  std::size_t size() const;

 private:
  struct Lease {
    std::string owner;
    os::ProcessIdentity process{};  // pid 0: timed
    Duration lasts{};
    Time ends = never;
  };
  Expected<Granted, std::string> add(LeaseId id, Lease lease);

  const LeaseLimits limits_;
  mutable std::mutex mutex_;
  std::map<LeaseId, Lease> leases_;  // guarded by mutex_
};

}  // namespace corelane::nameserver
