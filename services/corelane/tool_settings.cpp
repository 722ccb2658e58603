#include "services/corelane/tool_settings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "orb/core/name_service.h"
#include "orb/core/runtime.h"
#include "orb/core/settings.h"
#include "orb/dispatch/host_ledger.h"

namespace corelane::tool {

Expected<ToolSettings, core::SettingsFault> ToolSettings::load(std::vector<std::string> orb_options) {
  orb_options.insert(orb_options.end(), {"-ORBContractsFile", ""});
  std::vector<std::string> words = orb_options;
  words.insert(words.begin(), "corelane");
  std::vector<char*> argv;
  std::ranges::transform(words, std::back_inserter(argv), [](std::string& word) { return word.data(); });
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  const auto found = core::load_settings(argc, argv.data(), core::SettingsSources::of_process());
  if (!found) return found.error();
  return ToolSettings{
      .orb_options = std::move(orb_options),
      .runtime_directory = found->runtime_directory.empty() ? dispatch::runtime_directory() : found->runtime_directory,
      .directory_was_named = !found->runtime_directory.empty(),
      .nameserver_sockets = core::nameserver_sockets(*found),
      .reservation_sockets = core::reservation_sockets(*found)};
}

}  // namespace corelane::tool
