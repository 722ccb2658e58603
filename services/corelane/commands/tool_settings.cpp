#include "services/corelane/commands/tool_settings.h"

#include <utility>

#include "orb/core/client/name_service.h"
#include "orb/core/config/settings_of.h"
#include "orb/core/runtime.h"
#include "orb/dispatch/leases/host_ledger.h"

namespace corelane::tool {

Expected<ToolSettings, core::SettingsFault> ToolSettings::load(std::vector<std::string> orb_options) {
  orb_options.insert(orb_options.end(), {"-ORBContractsFile", ""});
  std::vector<std::string> planning_options = orb_options;
  orb_options.insert(orb_options.end(), {"-ORBDispatchSlowdowns", ""});
  const auto found = core::settings_of(orb_options);
  if (!found) return found.error();
  return ToolSettings{
      .orb_options = std::move(orb_options),
      .planning_options = std::move(planning_options),
      .runtime_directory = found->runtime_directory.empty() ? dispatch::runtime_directory() : found->runtime_directory,
      .directory_was_named = !found->runtime_directory.empty(),
      .nameserver_sockets = core::nameserver_sockets(*found),
      .reservation_sockets = core::reservation_sockets(*found),
      .trusted = found->naming.trusted,
      .names_a_service = core::names_a_service(*found)};
}

}  // namespace corelane::tool
