// EtcdOwnedNames: the names that go with their owners and that this nameserver keeps. All of them hang on one lease, so
// that keeping them is one question, however many there are; etcd drops them when this process is no more. Where it was
// etcd that was away for too long they are bound again.
//
// Those that another nameserver of this host keeps, or kept until it ended, are known here, too: once their lease has
// lost so much of its time that nobody keeps it any more, they are moved to the one of here.
//
// Threads: any; keep() one at a time.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/nameserver/stores/etcd_client.h"

namespace corelane::nameserver {

// A name as it stands in etcd.
struct EtcdName {
  std::string key, value;
  std::string context_key;  // has to be there; empty: the root
};

class EtcdOwnedNames {
 public:
  // `time`: of the lease. `abandoned_below`: the part of another's lease that is left when nobody keeps it; who keeps
  // one does so with every third of its time.
  EtcdOwnedNames(EtcdClient& client, std::chrono::seconds time, double abandoned_below = 0.5)
      : client_(client), time_(time), abandoned_below_(abandoned_below) {}

  // What names of owners are bound with; granted where there is none.
  Expected<EtcdLease, EtcdFault> lease();
  // keep() grants another one, and binds again what hung on this one.
  void ran_out(EtcdLease lease);

  // A transaction that binds a name of the owner's is on its way to etcd, until answered(). Where its answer was lost
  // answered() is not called: etcd may have done it, or do it yet.
  void asks(const std::string& owner);
  void answered(const std::string& owner);
  // What was bound here with the lease at the revision; without an owner: it is not one of these.
  void bound(const std::string& owner, const EtcdName& name, EtcdLease lease, std::uint64_t revision);
  // Etcd has this name of an owner on this host: another nameserver of the host has bound it, or it was bound here and
  // the answer was lost. Nothing when it is known here. keep() removes it where its owner has ended meanwhile.
  // remembered: etcd had it when a nameserver before this one followed it, as the EtcdCopy says. It is bound again
  // where etcd has neither the name any more nor its lease; where it has that, somebody has removed the name.
  enum class Known : std::uint8_t { seen, remembered };
  void adopt(const std::string& owner, const EtcdName& name, EtcdLease lease, std::uint64_t revision,
             Known known = Known::seen);
  // It was removed here.
  void lost(const std::string& key, std::uint64_t revision);
  // What happened in etcd, whoever did it.
  void seen(const EtcdEvent& event);
  // All that etcd has, in the order of keys, as of the revision.
  void seen_all(const std::vector<EtcdEntry>& entries, std::uint64_t revision);

  // Whether it was granted here.
  bool is_ours(EtcdLease lease) const;
  // Whose names there are.
  std::vector<std::string> owners() const;
  // The owner has ended: a name of it that is lost from now on is not bound again.
  void leave(const std::string& owner);
  // Whether the owner has names, or one is on its way to etcd.
  bool may_have(const std::string& owner) const;
  // Removes the owner's names, up to `names_in_step` in one step; the revision at which the last one went, 0: there
  // were none.
  Expected<std::uint64_t, EtcdFault> remove(const std::string& owner);

  // Keeps the lease alive, removes what came too late for its owner, binds again what went with one that ran out, and
  // takes over what nobody keeps. What etcd refuses of that is logged and tried with the next call. unreachable: try
  // again later.
  Expected<void, EtcdFault> keep();
  // Whether there are names that came too late for their owner: keep() should come at once.
  bool has_late_names() const;
  // Then keep() should come more often.
  bool watches_others() const;

  // What etcd takes in one transaction unless it is told otherwise (--max-txn-ops), half of it for their contexts.
  static constexpr std::size_t names_in_step = 64;
  // Owners of whom it is remembered that a transaction of theirs was never answered, after their end.
  static constexpr std::size_t most_in_doubt = 10'000;

 private:
  enum class Keeper : std::uint8_t {
    here,       // bound again where it went with its lease
    elsewhere,  // another nameserver of this host, as long as its lease lasts
    nobody,     // taken over, where it is still there
  };
  struct Name {
    EtcdName name;
    std::string owner;
    EtcdLease lease = 0;         // that it hangs on
    std::uint64_t revision = 0;  // of its last change, as far as known
    Keeper keeper = Keeper::here;
    bool is_remembered = false;  // and not seen since then
    bool is_doubtful = false;    // it vanished: with its lease, or by somebody
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

  // mutex_ is held.
  void put(Name name);
  void erase(const std::string& key);
  bool is_unsettled(const Name& name) const;
  void saw(Name& name, const EtcdEntry& entry);
  void missed(Name& name, std::uint64_t revision);

  EtcdClient& client_;
  const std::chrono::seconds time_;
  const double abandoned_below_;

  std::mutex turn_;      // names are bound again or removed, not both; taken first
  std::mutex granting_;  // a lease is granted once; taken before mutex_
  mutable std::mutex mutex_;
  EtcdLease lease_ = 0;                                  // guarded by mutex_; 0: none
  std::set<EtcdLease> granted_;                          // guarded by mutex_; all that were ever granted here
  std::map<std::string, Name> names_;                    // guarded by mutex_; by key
  std::set<std::pair<std::string, std::string>> owned_;  // guarded by mutex_; owner and key
  std::map<std::string, Unanswered> unanswered_;         // guarded by mutex_; by owner
  std::set<std::string> late_;                           // guarded by mutex_; owners that ended before their names came
};

}  // namespace corelane::nameserver
