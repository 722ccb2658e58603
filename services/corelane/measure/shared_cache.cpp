#include "services/corelane/measure/shared_cache.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "orb/base/contract.h"
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

std::string factor_text(const Slowdown& slowdown) { return format("%.2f times", slowdown.factor()); }

std::string toml_of(const Slowdown& slowdown) {
  // A JSON string is a string of TOML, too.
  return "[[slowdown]]\noperation = " + nlohmann::json(slowdown.operation).dump() +
         "\nbeside = " + nlohmann::json(slowdown.beside).dump() + "\nfactor = " + format("%.3f", slowdown.factor()) +
         "\nalone = \"" + to_string(slowdown.alone) + "\"\ntogether = \"" + to_string(slowdown.together) + "\"\n";
}

std::string add_slowdown(const std::string& path, const Slowdown& slowdown) {
  const bool is_there = static_cast<bool>(std::ifstream(path));
  std::ofstream file(path, std::ios::app);
  if (!is_there)
    file << "# Slowdowns of operations beside other work on the same last-level cache. They are measured estimates,\n"
            "# never bounds: the median execution time beside that work, divided by the median alone.\n";
  file << "\n" << toml_of(slowdown) << std::flush;
  return file ? "" : path + " cannot be written; name a file in a directory that this user may write to";
}

}  // namespace corelane::tool
