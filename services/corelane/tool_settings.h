// ToolSettings: what a command finds where servers and clients find theirs: -ORB options, CORELANE_ variables and the
// configuration file, so that a command started beside a server means the same directory as the server.
// Threads: a value.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/channel/access.h"
#include "orb/core/settings_fault.h"

namespace corelane::tool {

struct ToolSettings {
  std::vector<std::string> orb_options{};  // for an ORB of the command's own
  std::string runtime_directory{};         // the servers'
  bool directory_was_named = false;        // somebody said where that is
  // Where the daemons are looked for, in this order.
  std::vector<std::string> nameserver_sockets{}, reservation_sockets{};
  channel::Access trusted{};           // whose nameserver is believed besides this user's and root's
  bool names_a_service = false;        // another naming service than this host's is meant
  std::vector<std::string> program{};  // what stood behind --, of a command that runs a program

  // With which a daemon is started so that it is found there: " -ORBRuntimeDirectory /x".
  std::string start_options() const {
    return directory_was_named ? " -ORBRuntimeDirectory " + runtime_directory : std::string{};
  }

  // Contracts are a server's: a contracts file that is named there is not read, since a command may be about to write
  // or mend it.
  static Expected<ToolSettings, core::SettingsFault> load(std::vector<std::string> orb_options);
};

}  // namespace corelane::tool
