#include "examples/pendulum/stage.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace corelane::pendulum {
namespace {

void say(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cout << "  " << line << "\n";
  std::cout << std::flush;
}

}  // namespace

OwnDirectory::OwnDirectory() : path_((std::filesystem::temp_directory_path() / "corelane-demo-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make " + path_);
}

OwnDirectory::~OwnDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Stage::Stage(Reserving reserving, const OrbOptions& given, CORBA::ORB& orb)
    : reservations_(reserving, directory_.path(), given, orb), names_(directory_.path(), given, orb) {
  say(reservations_.introduction());
  say(names_.introduction());
}

OrbOptions Stage::service_options() const {
  OrbOptions options = reservations_.service_options();
  const OrbOptions of_names = names_.options();
  options.insert(options.end(), of_names.begin(), of_names.end());
  return options;
}

std::string Stage::placement_of(pid_t service) const {
  const std::string cores = reservations_.cores_of(service);
  if (cores.empty()) return "no core for itself";
  return (cores.find(' ') == cores.npos ? "core " : "cores ") + cores + " for itself";
}

std::vector<std::string> Stage::attend(pid_t service) {
  std::vector<std::string> lines = reservations_.attend(service);
  const auto more = names_.attend(service_name);
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

}  // namespace corelane::pendulum
