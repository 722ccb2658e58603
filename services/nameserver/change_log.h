// ChangeLog: the last changes of names, as paths from the root, to be read from any number on; and the paths
// themselves, since a store knows contexts by number.
//
// A context may be bound at several places, or at none: its path is the shortest way from the root, over the older
// binding where two are as short. A change without a way, or below more contexts than a name may have components, is
// not told.
//
// Threads: any; one mutex, which nobody holds while a pattern is matched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/nameserver/name_tree.h"
#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

// Which names somebody wants to hear of: * stands for any part of one component, ** for any number of components.
class NamePattern {
 public:
  explicit NamePattern(std::string_view text);
  bool matches(const Name& path) const;

 private:
  std::vector<std::string> parts_;
  std::size_t fewest_ = 0;  // components of a path that matches
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
  // Nothing when no way of at most so many steps leads there.
  std::optional<Name> path_of(ContextId context, std::size_t longest) const;

 private:
  using Way = std::pair<ContextId, NameComponent>;
  void forget(const Way& way);

  std::map<Way, ContextId> bound_;
  std::map<ContextId, std::vector<Way>> ways_;  // to each, oldest first
};

class ChangeLog {
 public:
  static constexpr std::uint64_t latest = ~std::uint64_t{0};
  // Of names, as they stand in memory, and of those in one reading: some thousand changes as names are, and what one
  // message takes where somebody makes them as long as may be.
  static constexpr std::size_t most_bytes = 16u << 20, most_bytes_read = 1u << 20;

  // `depth`: components of the longest path that is told, at least 1.
  explicit ChangeLog(std::size_t capacity, std::size_t depth = NameLimits{}.depth)
      : capacity_(capacity), depth_(depth) {}

  // What the store holds already, so that its contexts have paths. Before record().
  void learn(Store& store);
  void record(const Change& change);

  struct Reading {
    std::vector<NamedChange> changes;
    std::uint64_t until;  // to read on from
    bool lost;            // some between `since` and these are forgotten
  };
  // Those after number `since` that match, at most so many; fewer of long names, one at least. `latest`: none.
  Reading read(const NamePattern& pattern, std::uint64_t since, std::size_t most) const;

 private:
  using Kept = std::vector<std::shared_ptr<const NamedChange>>;
  // What comes after `since`, and a reading of none of it.
  Reading begin(std::uint64_t since, Kept& kept) const;

  const std::size_t capacity_;
  const std::size_t depth_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  ContextPaths paths_;
  std::deque<std::shared_ptr<const NamedChange>> changes_;
  std::size_t bytes_ = 0;  // of their names
  std::uint64_t last_ = 0;
};

}  // namespace corelane::nameserver
