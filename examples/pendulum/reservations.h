// Reservations uses the corelane-reserved daemon that gives the demo's service its cores. This is the demo's own
// daemon, which moves only the demo's processes, or the host's daemon.
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "examples/pendulum/helper.h"
#include "examples/pendulum/roles.h"
#include "orb/corba/orb.h"

namespace corelane::pendulum {

class Reservations {
 public:
  // `directory` is the demo's own. `orb` calls the daemon, and must outlive this object. Starts the daemon, unless
  // reservation is off or the host's daemon runs already.
  Reservations(Reserving reserving, const std::string& directory, const OrbOptions& given, CORBA::ORB& orb);

  // Says what runs, which programs it keeps off reserved cores, and what it cannot give, one line each.
  std::vector<std::string> introduction() const;
  // Returns the options with which the service asks the daemon for all the cores that it can give.
  OrbOptions service_options() const;
  // Returns words such as " for itself", which say what a process's cores are to others. With --reserve own, other
  // programs may run on these cores, and other demos may hold them, too.
  std::string whose() const;
  // Returns the cores that the daemon gave the process, such as "1 2 3"; "" if it gave none.
  std::string cores_of(pid_t process) const;
  // If the daemon has ended, restarts it. Returns lines that say so.
  std::vector<std::string> attend(pid_t service);

 private:
  struct Facts {
    bool known = false;  // the daemon answered
    int process = 0;
    int cores_to_give = 0;  // number of physical cores
    std::string backend, free;
  };

  std::vector<std::string> command(const OrbOptions& given) const;
  bool start_daemon();
  bool is_ready(os::ChildProcess& program);
  Facts ask() const;

  const Reserving reserving_;
  const std::string directory_, reference_file_, socket_;
  CORBA::ORB& orb_;
  Helper daemon_;
  Facts facts_{};  // state of the daemon before it gave the service any cores
  int restarts_left_ = 3;
  bool service_waits_ = false;  // the service waits for its cores, since the daemon was restarted
};

}  // namespace corelane::pendulum
