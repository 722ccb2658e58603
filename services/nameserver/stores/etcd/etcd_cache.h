// EtcdCache holds what etcd has below the prefix, as far as it is known here. Readers are served from it.
// Threads: any; one at a time updates it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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
    const std::lock_guard lock(mutex_);
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

  bool is_as_known(const EtcdEntry& entry) const;
  EtcdEntry seen_entry(const std::string& key) const;  // with mutex_ held
  void change_of(const EtcdEvent& event, Changes& changes);
  void settle(const EtcdEntry& entry, Changes& changes);
  void drop(const std::string& key, std::uint64_t revision, Changes& changes);
  void take(Change change, Changes& changes);

  const EtcdKeys keys_;

  mutable std::mutex mutex_;
  std::condition_variable grown_;
  Tree tree_;                   // guarded by mutex_
  Entries entries_;             // guarded by mutex_
  std::uint64_t revision_ = 0;  // guarded by mutex_
  bool is_followed_ = false;    // guarded by mutex_
  // Guarded by mutex_; when it was last followed.
  std::chrono::steady_clock::time_point left_ = std::chrono::steady_clock::now();
};

}  // namespace corelane::nameserver
