// Names runs the demo's own corelane-nameserver, where clients find the service.
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
  // `directory` is the demo's own. `orb` calls the nameserver, and must outlive this object. Starts the nameserver.
  Names(const std::string& directory, const OrbOptions& given, CORBA::ORB& orb);

  // Says what runs and where it keeps names, one line each.
  std::vector<std::string> introduction() const;
  bool runs() const noexcept { return nameserver_.pid() > 0; }
  // Returns the options with which the service and its clients find the nameserver.
  OrbOptions options() const { return {"-ORBNamingSocket", socket_}; }
  // Returns whether the name is bound now; nothing if the nameserver does not answer.
  std::optional<bool> has(const std::string& name) const;
  // If the nameserver has ended, restarts it. Returns lines that say so, and whether the nameserver still knows the
  // name.
  std::vector<std::string> attend(const std::string& name);

 private:
  std::vector<std::string> command(const OrbOptions& given) const;

  const std::string directory_, socket_, reference_file_;
  CORBA::ORB& orb_;
  Helper nameserver_;
  int restarts_left_ = 3;
};

}  // namespace corelane::pendulum
