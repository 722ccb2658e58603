// EtcdCache: what etcd has below the prefix, as far as it is known here; what readers are served from.
// Threads: any; one at a time brings news.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/nameserver/stores/etcd_client.h"
#include "services/nameserver/stores/etcd_keys.h"
#include "services/nameserver/stores/tree.h"

namespace corelane::nameserver {

class EtcdCache {
 public:
  EtcdCache(EtcdKeys keys, StoreLimits limits) : keys_(std::move(keys)), tree_(limits) {}

  // What has to happen here so that there is all this and nothing else, in the order of revisions: what goes comes
  // last.
  std::vector<EtcdEvent> missed(const std::vector<EtcdEntry>& entries, std::uint64_t revision) const;
  // What happened up to the revision; what that changes here.
  Changes apply(const std::vector<EtcdEvent>& events, std::uint64_t revision);
  // All that there was, so long ago, as somebody has kept it. Before anything else.
  void remember(const std::vector<EtcdEntry>& entries, std::uint64_t revision, std::chrono::seconds age);

  // Reads the tree; `read` must not wait.
  template <typename Read>
  auto with_tree(Read&& read) const {
    const std::lock_guard lock(mutex_);
    return read(tree_);
  }
  // Contexts that have to go when one more is made, as Tree::surplus() has them: their keys as last seen.
  std::vector<EtcdEntry> surplus(const std::optional<ContextId>& parent) const;
  // A key as last seen, without its lease, bindings without their values; changed at 0: it is not there.
  EtcdEntry entry(const std::string& key) const;
  std::uint64_t revision() const;

  // Until all changes up to the revision are known here; false: they are not at `deadline`, or are not to be expected.
  bool wait_for(std::uint64_t revision, std::chrono::steady_clock::time_point deadline);
  // Until that key is not as it was, or until `deadline`, or until changes are not to be expected.
  void wait_for_other(const EtcdEntry& entry, std::chrono::steady_clock::time_point deadline);
  // Whether changes are told from now on. Who waits for them, waits no longer without.
  void set_followed(bool is_followed);
  bool is_followed() const;
  // For how long they have not been, one millisecond at least; nothing: they are.
  std::optional<std::chrono::milliseconds> stale_for() const;

 private:
  struct Known {
    std::string value;           // of bindings none: those are in tree_
    std::size_t hash = 0;        // of the value, also of a binding
    std::uint64_t modified = 0;  // an etcd that began anew may count as the one before it did
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
  Tree tree_;                                                                      // guarded by mutex_
  Entries entries_;                                                                // guarded by mutex_
  std::uint64_t revision_ = 0;                                                     // guarded by mutex_
  bool is_followed_ = false;                                                       // guarded by mutex_
  std::chrono::steady_clock::time_point left_ = std::chrono::steady_clock::now();  // guarded by mutex_; followed until
};

}  // namespace corelane::nameserver
