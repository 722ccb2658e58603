// EtcdCache holds what etcd has below the prefix, as far as it is known here. Readers are served from it.
// Threads: any; one at a time updates it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/condition_variable.h"
#include "services/nameserver/stores/etcd/etcd_client.h"
#include "services/nameserver/stores/etcd/etcd_keys.h"
#include "services/nameserver/stores/tree/tree.h"

namespace corelane::nameserver {

class EtcdCache {
 public:
  EtcdCache(EtcdKeys keys, StoreLimits limits) : keys_(std::move(keys)), tree_(limits) {}

  // Returns the events that make the cache equal to `entries`, in the order of revisions. Deletions come last.
  std::vector<EtcdEvent> missed(const std::vector<EtcdEntry>& entries, std::uint64_t revision) const;
  // Applies the events up to the revision. Returns what they change here.
  Changes apply(const std::vector<EtcdEvent>& events, std::uint64_t revision);
  // Fills the cache from a copy that is `age` old. Call it before anything else.
  void remember(const std::vector<EtcdEntry>& entries, std::uint64_t revision, std::chrono::seconds age);

  // Calls `read` with the tree, under the lock. `read` must not block.
  template <typename Read>
  auto with_tree(Read&& read) const {
    const os::LockGuard lock(mutex_);
    return read(tree_);
  }
  // Returns the contexts that must be removed when one more is made, as Tree::surplus() names them: their keys as last
  // seen.
  std::vector<EtcdEntry> surplus(const std::optional<ContextId>& parent) const;
  // Returns a key as last seen, without its lease; a binding without its value. If the key does not exist, modified is
  // 0.
  EtcdEntry entry(const std::string& key) const;
  std::uint64_t revision() const;

  // Waits until all changes up to the revision are known. Returns false at `deadline`, or if etcd is not followed.
  bool wait_for(std::uint64_t revision, std::chrono::steady_clock::time_point deadline);
  // Waits until that key has changed, until `deadline`, or until etcd is not followed any more.
  void wait_for_other(const EtcdEntry& entry, std::chrono::steady_clock::time_point deadline);
  // Sets whether changes arrive from now on. If they do not, ends all waits for them.
  void set_followed(bool is_followed);
  bool is_followed() const;
  // Returns how long changes have not arrived, at least one millisecond; nothing if they arrive.
  std::optional<std::chrono::milliseconds> stale_for() const;

 private:
  struct Known {
    std::string value;     // empty for bindings: tree_ has them
    std::size_t hash = 0;  // of the value; for bindings too
    // Compared with the hash: a new etcd may use the same revisions again.
    std::uint64_t modified = 0;
  };
  using Entries = std::map<std::string, Known>;

  bool is_as_known(const EtcdEntry& entry) const CORELANE_REQUIRES(mutex_);
  EtcdEntry seen_entry(const std::string& key) const CORELANE_REQUIRES(mutex_);
  void change_of(const EtcdEvent& event, Changes& changes) CORELANE_REQUIRES(mutex_);
  void settle(const EtcdEntry& entry, Changes& changes) CORELANE_REQUIRES(mutex_);
  void drop(const std::string& key, std::uint64_t revision, Changes& changes) CORELANE_REQUIRES(mutex_);
  void take(Change change, Changes& changes) CORELANE_REQUIRES(mutex_);

  const EtcdKeys keys_;

  mutable os::Mutex mutex_;
  os::ConditionVariable grown_;
  Tree tree_ CORELANE_GUARDED_BY(mutex_);
  Entries entries_ CORELANE_GUARDED_BY(mutex_);
  std::uint64_t revision_ CORELANE_GUARDED_BY(mutex_) = 0;
  bool is_followed_ CORELANE_GUARDED_BY(mutex_) = false;
  // When it was last followed.
  std::chrono::steady_clock::time_point left_ CORELANE_GUARDED_BY(mutex_) = std::chrono::steady_clock::now();
};

}  // namespace corelane::nameserver
