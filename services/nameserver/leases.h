// Leases: how long ephemeral names live: as long as a process, or until nobody renews. One lease is one owner of names
// in the store; the owner's text says all that is needed to go on with it when the nameserver runs again. Only who took
// a lease uses it: the process, or the host where it came over the network; and the process whose lease it is.
//
// Time comes in as an argument. Threads: any; one mutex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/host.h"
#include "services/nameserver/clients.h"

namespace corelane::nameserver {

using LeaseId = std::uint64_t;  // random, so that nobody ends another's by chance

struct LeaseLimits {
  std::size_t leases = 10'000;
  std::size_t of_client = 1000;
  Duration longest = std::chrono::hours{1};  // at least Leases::shortest, as which less counts
};

class Leases {
 public:
  static constexpr Duration shortest = std::chrono::milliseconds{100};

  explicit Leases(const LeaseLimits& limits) : limits_(limits) { limits_.longest = std::max(limits.longest, shortest); }

  struct Granted {
    LeaseId id;
    std::string owner;
    Duration lasts;  // zero: as long as the process
  };
  // Or why not, as a sentence with its remedy. The caller sees to it that it is a process of this host.
  Expected<Granted, std::string> grant(const os::ProcessIdentity& process, const Client& to);
  Expected<Granted, std::string> grant(Duration wanted, const Client& to, Time now);

  // False, or nothing: it is not known, has ended, or is another's than the one who asks.
  bool renew(LeaseId id, const Client& by, Time now);
  std::optional<std::string> owner_of(LeaseId id, const Client& by, Time now) const;
  // It is forgotten; its names are to go by take_expired().
  bool end(LeaseId id, const Client& by);
  // The owner's names are to go by take_expired(), which the store did not take away, or which came too late.
  void leave(std::string owner);
  // Owners whose time is over, or whose process is no more, or who left: they are forgotten here.
  std::vector<std::string> take_expired(Time now);
  std::vector<std::string> take_of(const os::ProcessIdentity& process);
  // When take_expired() has something to give, unless somebody renews. In the past: it has already.
  Time next_expiry() const;

  // An owner that the store knew: the lease goes on, a timed one for its whole length, whatever the limits are by now.
  // False: it cannot; the process is no more, or the text says nothing to us.
  bool restore(const std::string& owner, Time now);
  // Of all leases, and of those that ended and whose names are to go by take_expired().
  std::set<std::string> owners() const;
  std::vector<os::ProcessIdentity> processes() const;
  std::size_t size() const;

 private:
  struct Lease {
    Client taker{};  // without a name: anybody, as an owner of an older nameserver says nothing of it
    std::string owner;
    os::ProcessIdentity process{};  // pid 0: timed
    Duration lasts{};
    Time ends = never;
  };
  Expected<Granted, std::string> add(LeaseId id, Lease lease);
  bool go_on(LeaseId id, Lease lease);  // false: the number is taken
  // With the mutex held.
  const Lease* usable(LeaseId id, const Client& by, Time now) const;

  LeaseLimits limits_;  // constant after construction
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<LeaseId, Lease> leases_;
  std::vector<std::string> left_;
};

// Whose an ephemeral name is, for people: "process 4711", "a lease of 30000 ms". The lease's number is its taker's
// alone.
std::string text_of_owner(const std::string& owner);

}  // namespace corelane::nameserver
