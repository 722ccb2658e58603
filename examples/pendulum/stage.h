// Stage: what the service and its clients stand on: a directory of the demo's own, cores of their own, names. All of it
// starts in that order, is started anew when it ends by itself, and goes in the opposite order with the stage.
// Threads: one, which lasts as long as the stage.
#pragma once

#include <string>
#include <vector>

#include "examples/pendulum/names.h"
#include "examples/pendulum/reservations.h"
#include "examples/pendulum/roles.h"
#include "orb/os/fd.h"

namespace corelane::pendulum {

// Removed with all that is in it; and before one is made, all those in its place that are of this user and whose demo
// was killed.
class OwnDirectory {
 public:
  OwnDirectory();  // std::runtime_error: what to do
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;
  ~OwnDirectory();
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  os::Fd lock_;  // as long as this lives; the kernel drops it when the process is killed
};

class Stage {
 public:
  // `orb` asks the daemons, and outlives this. Says what each of them is.
  Stage(Reserving reserving, const OrbOptions& given, CORBA::ORB& orb);

  OrbOptions service_options() const;
  OrbOptions client_options() const { return names_.options(); }
  const Names& names() const noexcept { return names_; }
  // What the service got of them.
  std::string placement_of(pid_t service) const;
  // Says what has happened to the daemons since the last time, and what was done about it.
  std::vector<std::string> attend(pid_t service);

 private:
  const OwnDirectory directory_;
  Reservations reservations_;
  Names names_;
};

}  // namespace corelane::pendulum
