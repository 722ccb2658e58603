#include "orb/sched/analysis/allocation.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace corelane::sched;

namespace {

using Bins = std::vector<std::vector<std::int64_t>>;
const std::vector<std::int64_t> published_items{8, 5, 7, 6, 2, 4, 1};

// Returns the used bins, in order.
Bins packed(Fit fit, const std::vector<std::int64_t>& items, std::size_t bins, bool all = true) {
  std::vector<std::int64_t> loads(bins, 0);
  std::vector<int> bin_of(items.size());
  REQUIRE(pack(fit, items, 10, loads, bin_of) == all);
  Bins result(bins);
  for (std::size_t i = 0; i < items.size(); ++i)
    if (bin_of[i] >= 0) result[static_cast<std::size_t>(bin_of[i])].push_back(items[i]);
  while (!result.empty() && result.back().empty()) result.pop_back();
  return result;
}

}  // namespace

TEST_CASE("first fit packs the published items") {
  CHECK(packed(Fit::first, published_items, 7) == Bins{{8, 2}, {5, 4, 1}, {7}, {6}});
}

TEST_CASE("best fit packs the published items") {
  CHECK(packed(Fit::best, published_items, 7) == Bins{{8, 2}, {5}, {7, 1}, {6, 4}});
}

TEST_CASE("next fit packs the published items") {
  CHECK(packed(Fit::next, published_items, 7) == Bins{{8}, {5}, {7}, {6, 2}, {4, 1}});
}

TEST_CASE("worst fit packs the published items over four bins") {
  CHECK(packed(Fit::worst, published_items, 4) == Bins{{8}, {5, 2, 1}, {7}, {6, 4}});
}

TEST_CASE("decreasing order sorts by key and keeps the order of equals") {
  const std::vector<std::int64_t> keys{3, 9, 3, 5};
  std::vector<std::size_t> order(keys.size());
  sort_decreasing(keys, order);
  CHECK(order == std::vector<std::size_t>{1, 3, 0, 2});
}

TEST_CASE("an item that fits nowhere is left out and the others are packed") {
  CHECK(packed(Fit::first, {6, 6, 6, 4}, 2, false) == Bins{{6, 4}, {6}});
  CHECK(packed(Fit::first, {11}, 2, false).empty());
}
