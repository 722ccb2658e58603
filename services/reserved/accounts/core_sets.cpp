#include "services/reserved/accounts/core_sets.h"

#include <algorithm>
#include <iterator>

namespace corelane::reserved {

std::vector<CoreId> without(const std::vector<CoreId>& from, const std::vector<CoreId>& these) {
  std::vector<CoreId> rest;
  std::ranges::set_difference(from, these, std::back_inserter(rest));
  return rest;
}

std::vector<CoreId> common_to(const std::vector<CoreId>& a, const std::vector<CoreId>& b) {
  std::vector<CoreId> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

std::vector<CoreId> joined(const std::vector<CoreId>& a, const std::vector<CoreId>& b) {
  std::vector<CoreId> all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

bool holds(const std::vector<CoreId>& set, CoreId core) { return std::ranges::binary_search(set, core); }

}  // namespace corelane::reserved
