#include "services/reserved/accounts/placement.h"

#include <algorithm>
#include <limits>
#include <map>

#include "services/reserved/accounts/core_sets.h"

namespace corelane::reserved {
namespace {

// Hardware threads that are given or left together: those of one physical core, or a single one.
struct Bundle {
  os::CoreInfo at{};            // the first hardware thread
  std::vector<CoreId> cores{};  // those that can be given
  std::vector<CoreId> idle{};   // those that then stay empty
};

bool is_wanted(const CoresWanted& wanted, CoreId core) { return wanted.these.empty() || holds(wanted.these, core); }

// Returns a physical core whose threads are all free, split into given and idle threads as the sibling rule says.
std::optional<Bundle> whole_bundle(const std::vector<os::CoreInfo>& threads, const std::vector<CoreId>& free,
                                   const CoresWanted& wanted) {
  Bundle bundle{.at = threads.front()};
  for (const os::CoreInfo& thread : threads) {
    if (!holds(free, thread.core)) return std::nullopt;
    const bool given = is_wanted(wanted, thread.core) && (bundle.cores.empty() || wanted.siblings == Siblings::mine);
    (given ? bundle.cores : bundle.idle).push_back(thread.core);
  }
  if (bundle.cores.empty()) return std::nullopt;
  return bundle;
}

std::vector<Bundle> bundles_of(const std::vector<os::CoreInfo>& all, const std::vector<CoreId>& free,
                               const CoresWanted& wanted) {
  std::map<int, std::vector<os::CoreInfo>> physical;
  for (const os::CoreInfo& core : all) physical[core.physical_core].push_back(core);
  std::vector<Bundle> bundles;
  for (const auto& [number, threads] : physical) {
    if (wanted.siblings != Siblings::others) {
      if (auto bundle = whole_bundle(threads, free, wanted)) bundles.push_back(std::move(*bundle));
      continue;
    }
    for (const os::CoreInfo& thread : threads)
      if (holds(free, thread.core) && is_wanted(wanted, thread.core))
        bundles.push_back({.at = thread, .cores = {thread.core}});
  }
  return bundles;
}

bool is_allowed(Nearness nearness, Distance distance) {
  if (nearness == Nearness::one_cache) return distance <= Distance::cache;
  if (nearness == Nearness::one_node) return distance <= Distance::node;
  return true;
}

// With Nearness::anywhere all bundles rank the same. Then the core number decides.
int rank(Nearness nearness, Distance distance) {
  return nearness == Nearness::anywhere ? 0 : static_cast<int>(distance);
}

struct Candidate {
  std::vector<const Bundle*> bundles{};
  int cost = std::numeric_limits<int>::max();  // sum of the distances from the seed
  int beside = 0;                              // free bundles left over in the seed's cache: fewer is a tighter fit
};

// Collects the bundles nearest to the seed until they have enough cores. Bound: the bundles, for each seed.
std::optional<Candidate> around(const Bundle& seed, const std::vector<Bundle>& bundles, const CoresWanted& wanted) {
  std::vector<const Bundle*> order;
  for (const Bundle& bundle : bundles)
    if (is_allowed(wanted.nearness, distance(seed.at, bundle.at))) order.push_back(&bundle);
  std::ranges::stable_sort(order, [&](const Bundle* a, const Bundle* b) {
    const int left = rank(wanted.nearness, distance(seed.at, a->at));
    const int right = rank(wanted.nearness, distance(seed.at, b->at));
    return left != right ? left < right : a->at.core > b->at.core;
  });
  Candidate found{.cost = 0};
  int cores = 0;
  for (const Bundle* bundle : order) {
    if (cores >= wanted.count) {
      if (bundle->at.cache == seed.at.cache) ++found.beside;
      continue;
    }
    cores += static_cast<int>(bundle->cores.size());
    found.cost += rank(wanted.nearness, distance(seed.at, bundle->at));
    found.bundles.push_back(bundle);
  }
  if (cores < wanted.count) return std::nullopt;
  return found;
}

// Cores of the last bundle beyond `count` stay empty.
Place place_of(const Candidate& candidate, int count) {
  Place place;
  for (const Bundle* bundle : candidate.bundles) {
    for (const CoreId core : bundle->cores)
      (static_cast<int>(place.cores.size()) < count ? place.cores : place.idle).push_back(core);
    place.idle.insert(place.idle.end(), bundle->idle.begin(), bundle->idle.end());
  }
  std::ranges::sort(place.cores);
  std::ranges::sort(place.idle);
  return place;
}

bool is_better(const Candidate& a, const Candidate& b) {
  return a.cost != b.cost ? a.cost < b.cost : a.beside < b.beside;
}

CoresWanted with_count(CoresWanted wanted) {
  std::ranges::sort(wanted.these);
  wanted.these.erase(std::unique(wanted.these.begin(), wanted.these.end()), wanted.these.end());
  if (wanted.count == 0) wanted.count = static_cast<int>(wanted.these.size());
  return wanted;
}

}  // namespace

Distance distance(const os::CoreInfo& a, const os::CoreInfo& b) noexcept {
  if (a.core == b.core) return Distance::same;
  if (a.physical_core == b.physical_core) return Distance::physical_core;
  if (a.cache == b.cache) return Distance::cache;
  return a.numa == b.numa ? Distance::node : Distance::machine;
}

std::optional<Place> choose_cores(const std::vector<os::CoreInfo>& all, const std::vector<CoreId>& free,
                                  const CoresWanted& asked) {
  const CoresWanted wanted = with_count(asked);
  if (wanted.count <= 0) return std::nullopt;
  const std::vector<Bundle> bundles = bundles_of(all, free, wanted);
  std::optional<Candidate> best;
  for (auto seed = bundles.rbegin(); seed != bundles.rend(); ++seed) {
    auto candidate = around(*seed, bundles, wanted);
    if (candidate && (!best || is_better(*candidate, *best))) best = std::move(candidate);
  }
  if (!best) return std::nullopt;
  return place_of(*best, wanted.count);
}

int most_cores(const std::vector<os::CoreInfo>& all, const std::vector<CoreId>& free, const CoresWanted& asked) {
  CoresWanted wanted = with_count(asked);
  for (; wanted.count > 0; --wanted.count)  // bound: the number of cores asked for
    if (wanted.count <= static_cast<int>(free.size()) && choose_cores(all, free, wanted)) return wanted.count;
  return 0;
}

}  // namespace corelane::reserved
