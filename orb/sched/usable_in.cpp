#include "orb/sched/usable_in.h"

#include <string_view>

namespace corelane::sched {

std::string text_of(const UsableIn& usable) {
  std::vector<std::string_view> names;
  if (usable.analysis) names.emplace_back("the analysis (corelane plan)");
  if (usable.simulator) names.emplace_back("the simulator");
  if (usable.server) names.emplace_back("a server");
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ").append(names[i]);
  return text;
}

}  // namespace corelane::sched
