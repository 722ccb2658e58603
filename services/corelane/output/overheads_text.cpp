#include "services/corelane/output/overheads_text.h"

#include <nlohmann/json.hpp>

namespace corelane::tool {

std::string overheads_line(const eval::RunOverheads& overheads) {
  const std::string text = eval::text_of(overheads);
  return text.empty() ? text : text + "\n";
}

nlohmann::ordered_json overheads_json(const eval::RunOverheads& overheads) {
  nlohmann::ordered_json json{{"charged", overheads.charged}, {"per_job_ns", overheads.per_job().count()}};
  for (const sim::OverheadInfo& info : sim::overhead_infos)
    json[std::string(info.name) + "_ns"] = sim::cost_of(overheads.costs, info.kind).most().count();
  if (overheads.blocking > Duration::zero()) json["blocking_ns"] = overheads.blocking.count();
  return json;
}

}  // namespace corelane::tool
