// Names: the corelane-nameserver of the demo's own, where its clients find the service.
// Threads: one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/pendulum/helper.h"
#include "examples/pendulum/roles.h"
#include "orb/corba/orb.h"

namespace corelane::pendulum {

class Names {
 public:
  // `directory`: of the demo's own. `orb` asks the nameserver, and outlives this. Starts the nameserver.
  Names(const std::string& directory, const OrbOptions& given, CORBA::ORB& orb);

  // What runs, and where it keeps names: a line each.
  std::vector<std::string> introduction() const;
  bool runs() const noexcept { return nameserver_.pid() > 0; }
  // By which the service and its clients find it.
  OrbOptions options() const { return {"-ORBNamingSocket", socket_}; }
  // Whether the name leads somewhere now; nothing: the nameserver does not answer.
  std::optional<bool> has(const std::string& name) const;
  // Starts it anew where it has ended, and says so, and whether it still knows the name.
  std::vector<std::string> attend(const std::string& name);

 private:
  std::vector<std::string> command(const OrbOptions& given) const;

  const std::string directory_, socket_, reference_file_;
  CORBA::ORB& orb_;
  Helper nameserver_;
  int restarts_left_ = 3;
};

}  // namespace corelane::pendulum
