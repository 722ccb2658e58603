// ToolSettings finds what servers and clients find: -ORB options, CORELANE_ variables and the configuration file. So a
// command that is started beside a server uses the same directory as the server.
// Threads: a value.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/channel/access.h"
#include "orb/core/settings_fault.h"

namespace corelane::tool {

struct ToolSettings {
  std::vector<std::string> orb_options{};       // for the command's own ORB
  std::vector<std::string> planning_options{};  // the same with dispatch.slowdowns: for commands that admit as a server
  std::string runtime_directory{};              // the servers'
  bool directory_was_named = false;             // a setting names that directory
  // Where to look for the daemons, in this order.
  std::vector<std::string> nameserver_sockets{}, reservation_sockets{};
  channel::Access trusted{};           // users whose nameserver is trusted, besides this user and root
  bool names_a_service = false;        // a naming service other than this host's is meant
  std::vector<std::string> program{};  // the words after --, for a command that runs a program

  // Returns the options that start a daemon where it is found: " -ORBRuntimeDirectory /x".
  std::string start_options() const {
    return directory_was_named ? " -ORBRuntimeDirectory " + runtime_directory : std::string{};
  }

  // Loads the settings. Does not read a contracts file or a file of slowdowns that they name: these are a server's, and
  // the command may be about to write or repair that file.
  static Expected<ToolSettings, core::SettingsFault> load(std::vector<std::string> orb_options);
};

}  // namespace corelane::tool
