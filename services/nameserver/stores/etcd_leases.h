// EtcdLeases: one lease for each owner of names that were bound here. etcd drops the names when nobody keeps their
// lease alive; where it was etcd that was away for too long, they are bound again. Threads: any; keep() one at a time.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "services/nameserver/stores/etcd_client.h"

namespace corelane::nameserver {

// A name as it stands in etcd.
struct EtcdName {
  std::string key, value;
  std::string context_key;  // has to be there; empty: the root
};

class EtcdLeases {
 public:
  EtcdLeases(EtcdClient& client, std::chrono::seconds time) : client_(client), time_(time) {}

  // His lease; granted where he has none.
  Expected<EtcdLease, EtcdFault> lease_of(const std::string& owner);
  // Goes on with the lease of one whose nameserver is no more; unless he has one here. When it runs out all the same,
  // his names are gone: somebody else may have ended it.
  void adopt(const std::string& owner, EtcdLease lease);
  // He has another one from now on: this one ran out.
  void ran_out(const std::string& owner, EtcdLease lease);
  // Ends his lease, and his names with it; false: he has none here.
  Expected<bool, EtcdFault> end(const std::string& owner);
  // Those who have one.
  std::vector<std::string> owners() const;

  // What was bound here at the revision.
  void bound(const std::string& owner, const EtcdName& name, std::uint64_t revision);
  // It was removed, or is now another's.
  void lost(const std::string& key, std::uint64_t revision);
  // It is gone, by somebody or with its lease: keep() will find out.
  void vanished(const std::string& key, std::uint64_t revision);

  // Keeps all alive, and binds again what went with those that ran out. unreachable: try again later.
  Expected<void, EtcdFault> keep();

 private:
  struct Name {
    EtcdName name;
    std::uint64_t revision = 0;
    bool is_doubtful = false;  // it vanished
  };
  struct Held {
    EtcdLease lease = 0;
    std::map<std::string, Name> names;  // that were bound here, by key
    bool is_adopted = false;
  };

  Expected<void, EtcdFault> keep_one(const std::string& owner, EtcdLease lease);
  bool has(const std::string& owner, EtcdLease lease) const;
  bool is_over(const std::string& owner);
  Expected<void, EtcdFault> renew(const std::string& owner, EtcdLease old);
  Expected<void, EtcdFault> bind_again(const std::string& owner, const EtcdName& name, EtcdLease lease);
  std::map<std::string, EtcdLease> leases() const;
  std::vector<std::string> doubtful_of(const std::string& owner) const;
  Name* held_name(const std::string& key);

  EtcdClient& client_;
  const std::chrono::seconds time_;

  std::mutex turn_;      // a lease is kept or ended, not both: what ended is not to be bound again; taken first
  std::mutex granting_;  // a lease is granted once; taken before mutex_
  mutable std::mutex mutex_;
  std::map<std::string, Held> held_;  // guarded by mutex_; by owner
};

}  // namespace corelane::nameserver
