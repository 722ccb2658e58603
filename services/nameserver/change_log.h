// ChangeLog keeps the most recent changes of names, as paths from the root. A reader can start after any change number.
// A store knows contexts by number only, so ContextPaths keeps the paths.
//
// A context may be bound at several places, or at none. Its path is the shortest way from the root; of two equally
// short ways, the one over the older binding. A change is not reported when no way leads to its context, or when its
// path has more components than a name may have.
//
// Threads: any. One mutex, which is not held while a pattern is matched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "services/nameserver/name_tree.h"
#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

// NamePattern says which names a listener wants. `*` matches any part of one component, `**` any number of components.
class NamePattern {
 public:
  explicit NamePattern(std::string_view text);
  bool matches(const Name& path) const;

 private:
  std::vector<std::string> parts_;
  std::size_t fewest_ = 0;  // the fewest components that a matching path has
};

struct NamedChange {
  std::uint64_t number;
  Change::Kind kind;  // bound, rebound, unbound
  Name path;
  BindingType type;
  bool ephemeral;
};

class ContextPaths {
 public:
  void note(const Change& change);
  // Returns the path of the context, or nothing when no way of at most `longest` steps leads there.
  std::optional<Name> path_of(ContextId context, std::size_t longest) const;

 private:
  using Way = std::pair<ContextId, NameComponent>;
  void forget(const Way& way);

  std::map<Way, ContextId> bound_;
  std::map<ContextId, std::vector<Way>> ways_;  // the ways to each context, oldest first
};

class ChangeLog {
 public:
  static constexpr std::uint64_t latest = ~std::uint64_t{0};
  // The most bytes of names in the log, and in one reading, counted as in memory. With names of usual length this is
  // some thousand changes. With the longest allowed names, one reading still fits into one message.
  static constexpr std::size_t most_bytes = 16u << 20, most_bytes_read = 1u << 20;

  // `depth` is the number of components of the longest path that is reported, at least 1.
  explicit ChangeLog(std::size_t capacity, std::size_t depth = NameLimits{}.depth)
      : capacity_(capacity), depth_(depth) {}

  // Learns the bindings that the store already holds, so that their contexts have paths. Call it before record().
  void learn(Store& store);
  void record(const Change& change);

  struct Reading {
    std::vector<NamedChange> changes;
    std::uint64_t until;  // to read on from
    bool lost;            // changes between `since` and these were dropped
  };
  // Returns the matching changes after number `since`, at most `most` of them. Long names make the reading shorter, but
  // it has at least one change. `latest` as `since` gives no changes, only the current number.
  Reading read(const NamePattern& pattern, std::uint64_t since, std::size_t most) const;

 private:
  using Kept = std::vector<std::shared_ptr<const NamedChange>>;
  // Copies the changes after `since` into `kept`, and returns a Reading without changes.
  Reading begin(std::uint64_t since, Kept& kept) const;

  const std::size_t capacity_;
  const std::size_t depth_;
  mutable os::Mutex mutex_;
  ContextPaths paths_ CORELANE_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<const NamedChange>> changes_ CORELANE_GUARDED_BY(mutex_);
  std::size_t bytes_ CORELANE_GUARDED_BY(mutex_) = 0;  // of their names
  std::uint64_t last_ CORELANE_GUARDED_BY(mutex_) = 0;
};

}  // namespace corelane::nameserver
