// Reservations: the corelane-reserved that gives the demo's service its cores: one of the demo's own, which moves
// nobody but the demo's processes, or the host's.
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
  // `directory`: of the demo's own. `orb` asks the daemon, and outlives this. Starts the daemon, where it is to run.
  Reservations(Reserving reserving, const std::string& directory, const OrbOptions& given, CORBA::ORB& orb);

  // Says in one line each what runs, which programs it keeps off reserved cores, and what it cannot give.
  std::vector<std::string> introduction() const;
  // By which the service asks it for all the cores that it can give.
  OrbOptions service_options() const;
  // " for itself": what a process's cores are to others. With --reserve own other programs may run on them, and other
  // demos may hold them, too.
  std::string whose() const;
  // "1-3": those that the daemon gave the process; "" for none.
  std::string cores_of(pid_t process) const;
  // Starts it anew where it has ended, and says so.
  std::vector<std::string> attend(pid_t service);

 private:
  struct Facts {
    bool known = false;  // it answered
    int process = 0;
    int cores_to_give = 0;  // physical ones
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
  Facts facts_{};  // of the daemon before it gave the service any
  int restarts_left_ = 3;
  bool service_waits_ = false;  // for its cores, since the daemon was started anew
};

}  // namespace corelane::pendulum
