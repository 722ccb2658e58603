#include "examples/pendulum/names.h"

#include <chrono>

#include "CorelaneNamingC.h"
#include "examples/pendulum/table.h"
#include "orb/os/clock.h"

namespace corelane::pendulum {
namespace {

using namespace std::chrono_literals;

constexpr const char* name_of_nameserver = "corelane-nameserver";

// Waits until the nameserver prints where it answers, which means that it serves.
bool says_where(os::ChildProcess& nameserver) { return nameserver.read_line(os::now() + 20s).has_value(); }

}  // namespace

Names::Names(const std::string& directory, const OrbOptions& given, CORBA::ORB& orb)
    : directory_(directory),
      socket_(directory + "/nameserver.sock"),
      reference_file_(directory + "/names.ior"),
      orb_(orb),
      nameserver_(command(given), says_where) {
  nameserver_.start();
}

std::vector<std::string> Names::command(const OrbOptions& given) const {
  OrbOptions words{
      os::program_beside(name_of_nameserver), "--ior-file", reference_file_, "-ORBLogLevel", "error", "-ORBNamingStore",
      "sqlite:" + directory_ + "/names.db"};
  const auto wanted = options_of({"-ORBNaming", "-ORBLog", "-ORBConfig"}, given);
  words.insert(words.end(), wanted.begin(), wanted.end());
  words.insert(words.end(), {"-ORBRuntimeDirectory", directory_, "-ORBNamingSocket", socket_, "-ORBEndpointListen",
                             "unix:" + socket_});
  return words;
}

std::vector<std::string> Names::introduction() const {
  if (!runs())
    return {std::string(name_of_nameserver) +
            " could not be started; what it said stands above. The clients get the service's reference instead"};
  std::string store = "a store that it does not tell";
  try {
    const auto root =
        IDL::traits<Corelane::Naming::Directory>::narrow(orb_.string_to_object("file://" + reference_file_));
    const auto status = root->nameserver()->state();
    store = status.store() + (status.place().empty() ? ", so they end with it" : " " + status.place());
  } catch (const CORBA::Exception&) {
    // A nameserver that does not answer shows in the lines that follow.
  }
  return {format("%s, process %d: names are kept in %s", name_of_nameserver, nameserver_.pid(), store.c_str())};
}

std::optional<bool> Names::has(const std::string& name) const try {
  const auto root =
      IDL::traits<CosNaming::NamingContextExt>::narrow(orb_.string_to_object("file://" + reference_file_));
  return root && root->resolve_str(name);
} catch (const CosNaming::NamingContext::NotFound&) {
  return false;
} catch (const CORBA::Exception&) {
  return std::nullopt;
}

std::vector<std::string> Names::attend(const std::string& name) {
  std::vector<std::string> lines;
  const auto end = nameserver_.ended();
  if (!end) return lines;
  lines.push_back(std::string(name_of_nameserver) + " ended (" + end->text() +
                  "): pendulums that have found the service still call it");
  if (restarts_left_-- <= 0 || !nameserver_.start()) {
    lines.emplace_back("it is not started again: what it said stands above");
    return lines;
  }
  const auto found = has(name);
  lines.push_back(
      format("%s runs again, as process %d: ", name_of_nameserver, nameserver_.pid()) +
      (!found ? "it does not answer yet" : name + (*found ? " is in its store as before" : " is not in its store")));
  return lines;
}

}  // namespace corelane::pendulum
