#include "services/corelane/measure/shared_cache.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "orb/base/contract.h"
#include "orb/base/text/counted.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {

CoreId core_beside(std::span<const os::CoreInfo> cores, CoreId core) {
  const auto own = std::ranges::find(cores, core, &os::CoreInfo::core);
  if (own == cores.end()) return no_core;
  const auto other = std::ranges::find_if(cores, [&](const os::CoreInfo& info) {
    return info.cache == own->cache && info.physical_core != own->physical_core;
  });
  return other == cores.end() ? no_core : other->core;
}

std::string factor_text(const Slowdown& slowdown) {
  std::string text = format("%.2f times that alone (", slowdown.factor());
  if (slowdown.range) text += format("%.2f to %.2f with 95 %% confidence, ", slowdown.range->low, slowdown.range->high);
  return text + counted(slowdown.samples, "job") + ")";
}

std::string toml_of(const Slowdown& slowdown) {
  const auto number = [](const char* key, const std::optional<double>& value) {
    return value ? std::string(key) + " = " + format("%.3f", *value) + "\n" : "";
  };
  // A JSON string is a string of TOML, too.
  std::string text = "[[slowdown]]\noperation = " + nlohmann::json(slowdown.operation).dump() +
                     "\nbeside = " + nlohmann::json(slowdown.beside).dump() + "\n" +
                     number("factor", slowdown.factor()) + "samples = " + std::to_string(slowdown.samples) + "\n";
  if (slowdown.range) text += number("low", slowdown.range->low) + number("high", slowdown.range->high);
  text += "alone = \"" + to_string(slowdown.alone) + "\"\ntogether = \"" + to_string(slowdown.together) + "\"\n";
  if (const auto& metrics = slowdown.metrics)
    text +=
        number("accesses", metrics->accesses) + number("misses", metrics->misses) + number("stalls", metrics->stalls);
  return text;
}

std::string add_slowdowns(const std::string& path, std::span<const Slowdown> slowdowns) {
  const bool is_there = static_cast<bool>(std::ifstream(path));
  std::ofstream file(path, std::ios::app);
  if (!is_there)
    file << "# Slowdowns of operations beside other work on the same last-level cache. They are measured estimates,\n"
            "# never bounds: the median execution time beside that work, divided by the median alone.\n";
  for (const Slowdown& slowdown : slowdowns) file << "\n" << toml_of(slowdown);
  file << std::flush;
  return file ? "" : path + " cannot be written; name a file in a directory that this user may write to";
}

}  // namespace corelane::tool
