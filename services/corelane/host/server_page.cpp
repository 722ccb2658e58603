#include "services/corelane/host/server_page.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace corelane::tool {

std::optional<dispatch::ProcessCounters> server_page(const std::string& directory, int pid) {
  std::vector<dispatch::ProcessCounters> pages = dispatch::read_pages(directory);
  const auto page = std::ranges::find(pages, pid, &dispatch::ProcessCounters::pid);
  return page == pages.end() ? std::nullopt : std::optional(std::move(*page));
}

std::string why_untraced(const dispatch::ProcessCounters& page) {
  if (page.conditions.guarantee != dispatch::Guarantee::priorities) return {};
  return "runs in dispatch.mode leader-followers, which records nothing: there is no trace of it. Start it with "
         "-ORBDispatchMode manager or direct";
}

std::string why_untraced_in(const std::string& directory, int pid) {
  const auto page = server_page(directory, pid);
  return page ? why_untraced(*page) : "";
}

}  // namespace corelane::tool
