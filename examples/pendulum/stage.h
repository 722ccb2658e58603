// Stage sets up the surroundings of the service and its clients: a directory of the demo's own, reserved cores, names.
// It starts them in this order, and ends them in the opposite order. It restarts a daemon that ended by itself.
// Threads: one, which lasts as long as the stage.
#pragma once

#include <string>
#include <vector>

#include "examples/pendulum/names.h"
#include "examples/pendulum/reservations.h"
#include "examples/pendulum/roles.h"
#include "orb/os/fd.h"

namespace corelane::pendulum {

// A directory that is removed with its content at the end. Before it is made, all directories of this kind that belong
// to this user and whose demo was killed are removed.
class OwnDirectory {
 public:
  OwnDirectory();  // raises std::runtime_error, which says what to do
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;
  ~OwnDirectory();
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  os::Fd lock_;  // held as long as this lives; the kernel drops it when the process is killed
};

class Stage {
 public:
  // Starts the daemons and says what each of them is. `orb` calls the daemons, and must outlive this object.
  Stage(Reserving reserving, const OrbOptions& given, CORBA::ORB& orb);

  OrbOptions service_options() const;
  OrbOptions client_options() const { return names_.options(); }
  const Names& names() const noexcept { return names_; }
  // Says which cores the service got.
  std::string placement_of(pid_t service) const;
  // Returns lines about what has happened to the daemons since the last call, and what was done about it.
  std::vector<std::string> attend(pid_t service);

 private:
  const OwnDirectory directory_;
  Reservations reservations_;
  Names names_;
};

}  // namespace corelane::pendulum
