#include "orb/core/text/spelling.h"

#include <algorithm>
#include <numeric>

namespace corelane::core {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

const std::string& nearest(std::string_view name, const std::vector<std::string>& known) {
  const std::string* best = &known.front();
  std::size_t least = distance(name, *best);
  for (const std::string& other : known)
    if (const std::size_t far = distance(name, other); far < least) best = &other, least = far;
  return *best;
}

std::string meant(std::string_view name, const std::vector<std::string>& known, std::string_view before) {
  if (known.empty()) return {};
  const std::string& best = nearest(name, known);
  const std::size_t slips = std::max<std::size_t>(1, std::min(name.size(), best.size()) / 3);
  return distance(name, best) <= slips ? "; " + std::string(before) + " " + best : "";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

}  // namespace corelane::core
