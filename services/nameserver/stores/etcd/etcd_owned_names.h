// EtcdOwnedNames keeps the names that are removed with their owners and that this nameserver is responsible for. All of
// them are attached to one lease, so one request renews them all. If this process ends, etcd removes them. If etcd was
// away so long that the lease expired, they are bound again.
//
// It also knows the names of other nameservers of this host, and of those that have ended. If a lease was not renewed
// for so long that no nameserver can own it any more, its names move to the lease of this nameserver.
//
// Threads: any; keep() one at a time.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "services/nameserver/stores/etcd/etcd_client.h"

namespace corelane::nameserver {

// A name as it is stored in etcd.
struct EtcdName {
  std::string key, value;
  std::string context_key;  // must exist; empty: the root
};

class EtcdOwnedNames {
 public:
  // `time` is the lease's. A lease of another nameserver counts as abandoned if less than the part `abandoned_below` of
  // it is left. The reason: a nameserver renews its lease every third of the lease's time.
  EtcdOwnedNames(EtcdClient& client, std::chrono::seconds time, double abandoned_below = 0.5)
      : client_(client), time_(time), abandoned_below_(abandoned_below) {}

  // Returns the lease that names of owners are bound with. Grants one if there is none.
  Expected<EtcdLease, EtcdFault> lease();
  // Notes that the lease expired. keep() grants a new one, and binds the names of the old one again.
  void ran_out(EtcdLease lease);

  // Notes that a transaction that binds a name of the owner was sent to etcd. Call answered() for its answer. If the
  // answer was lost, do not call answered(): etcd may have done it, or may still do it.
  void asks(const std::string& owner);
  void answered(const std::string& owner);
  // Notes what was bound here with the lease at the revision. An empty owner: the name does not belong to an owner.
  void bound(const std::string& owner, const EtcdName& name, EtcdLease lease, std::uint64_t revision);
  // Takes over a name of an owner on this host that etcd has. Another nameserver of the host bound it, or it was bound
  // here and the answer was lost. Does nothing if it is known already. If its owner has ended meanwhile, keep() removes
  // it.
  //
  // remembered: the EtcdCopy says that etcd had it when an earlier nameserver followed etcd. If etcd has neither the
  // name nor its lease any more, it is bound again. If etcd has the lease, a client removed the name.
  enum class Known : std::uint8_t { seen, remembered };
  void adopt(const std::string& owner, const EtcdName& name, EtcdLease lease, std::uint64_t revision,
             Known known = Known::seen);
  // Notes that the name was removed here.
  void lost(const std::string& key, std::uint64_t revision);
  // Notes an event in etcd, from any client.
  void seen(const EtcdEvent& event);
  // Notes all that etcd has, in the order of keys, at the revision.
  void seen_all(const std::vector<EtcdEntry>& entries, std::uint64_t revision);

  // Returns whether the lease was granted here.
  bool is_ours(EtcdLease lease) const;
  // Returns the owners that have names.
  std::vector<std::string> owners() const;
  // Notes that the owner has ended. A name of it that is lost from now on is not bound again.
  void leave(const std::string& owner);
  // Returns whether the owner has names, or one may be on its way to etcd.
  bool may_have(const std::string& owner) const;
  // Removes the owner's names, up to `names_in_step` in one step. Returns the revision of the last removal; 0: there
  // were none.
  Expected<std::uint64_t, EtcdFault> remove(const std::string& owner);

  // Renews the lease, and removes names that were bound after their owner's end. Binds again what an expired lease
  // removed, and takes over abandoned names. If etcd refuses to bind some, logs it, and tries them at the next call.
  // unreachable: try again later.
  Expected<void, EtcdFault> keep();
  // Returns whether there are names that were bound after their owner's end. Then call keep() at once.
  bool has_late_names() const;
  // Returns whether it knows names of other nameservers. Then call keep() more often.
  bool watches_others() const;

  // Half of the operations that etcd allows in one transaction by default (--max-txn-ops). The other half is for the
  // contexts of the names.
  static constexpr std::size_t names_in_step = 64;
  // The most owners with unanswered transactions that are remembered. Beyond it, ended ones are forgotten.
  static constexpr std::size_t most_in_doubt = 10'000;

 private:
  enum class KeptBy : std::uint8_t {
    this_nameserver,  // bound again if the lease's end removed it
    another,          // kept by another nameserver of this host, while its lease lasts
    nobody,           // taken over if it still exists
  };
  struct Name {
    EtcdName name;
    std::string owner;
    EtcdLease lease = 0;         // the lease that it is attached to
    std::uint64_t revision = 0;  // of its last change, as far as it is known
    KeptBy kept_by = KeptBy::this_nameserver;
    bool is_remembered = false;  // from the copy, and not seen in etcd since
    bool is_doubtful = false;    // it disappeared: because its lease expired, or a client removed it
    bool is_leaving = false;     // its owner has ended
  };
  using Done = Expected<void, EtcdFault>;

  // Transactions of one owner that etcd has not answered.
  struct Unanswered {
    std::size_t count = 0;
    bool has_left = false;  // its owner has ended
  };

  Done keep_alive();
  Done remove_late();
  Done look_after_others();
  Done settle_all();
  Done settle(const std::vector<std::string>& keys);
  void judge(std::vector<Name>& names, const EtcdOutcome& outcome, EtcdLease lease);
  bool is_to_be_dropped(const Name& name, const EtcdEntry* there);
  std::vector<std::string> unsettled_behind(const std::string& key) const;
  std::vector<Name> expected_of(const std::vector<std::string>& keys) const;
  std::map<std::string, std::uint64_t> doubtful() const;
  std::set<EtcdLease> leases_of_others() const;
  void nobody_keeps(EtcdLease lease);
  void drop_removed(EtcdLease lease);
  Expected<std::uint64_t, EtcdFault> remove_some(const std::string& owner, std::vector<Name> names);
  std::vector<Name> some_of(const std::string& owner) const;

  void put(Name name) CORELANE_REQUIRES(mutex_);
  void erase(const std::string& key) CORELANE_REQUIRES(mutex_);
  bool is_unsettled(const Name& name) const CORELANE_REQUIRES(mutex_);
  void saw(Name& name, const EtcdEntry& entry) CORELANE_REQUIRES(mutex_);
  void missed(Name& name, std::uint64_t revision) CORELANE_REQUIRES(mutex_);

  EtcdClient& client_;
  const std::chrono::seconds time_;
  const double abandoned_below_;

  os::Mutex turn_;      // held while names are bound again or removed, so that both do not happen at once; taken first
  os::Mutex granting_;  // held so that a lease is granted once; taken before mutex_
  mutable os::Mutex mutex_;
  EtcdLease lease_ CORELANE_GUARDED_BY(mutex_) = 0;                // 0: none
  std::set<EtcdLease> granted_ CORELANE_GUARDED_BY(mutex_);        // all leases that were granted here
  std::map<std::string, Name> names_ CORELANE_GUARDED_BY(mutex_);  // by key
  std::set<std::pair<std::string, std::string>> owned_ CORELANE_GUARDED_BY(mutex_);  // owner and key
  std::map<std::string, Unanswered> unanswered_ CORELANE_GUARDED_BY(mutex_);         // by owner
  std::set<std::string> late_ CORELANE_GUARDED_BY(mutex_);  // owners that ended before their names arrived
};

}  // namespace corelane::nameserver
