// Enclosure: a process, and all that it starts, apart from the rest of the machine: a PID namespace, with which
// everything in it ends, and cpusets (v1) of the cores that this program may use, below which a corelane-reserved can
// move processes without reaching others. Where the system does not allow it there is the process alone, and a reason.
//
// Threads: the program's only one, before it has started another.
#pragma once

#include <functional>
#include <string>

namespace interactivity {

struct Enclosure {
  std::string directory{};   // for this run; removed at its end
  std::string group{};       // of the hierarchies cpuset and cpu; "" for none
  std::string impossible{};  // why there is none, and how to mend it
};

// Runs the function in there, or with `apart` false as a process among all others, and returns what it returned. With
// SIGINT, SIGTERM and SIGHUP all of it ends, and with the death of this process. std::exception when it cannot start.
int run_enclosed(bool apart, const std::function<int(const Enclosure&)>& inside);

}  // namespace interactivity
