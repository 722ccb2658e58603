// Enclosure separates a process, and all that it starts, from the rest of the machine. A PID namespace ends all of them
// together. Cpusets (v1) contain the cores that this program may use. Below these, a corelane-reserved can move
// processes without affecting others. If the system does not allow this, the process runs without it, and `impossible`
// says why.
//
// Threads: the program's only one; call it before another is started.
#pragma once

#include <functional>
#include <string>

namespace interactivity {

struct Enclosure {
  std::string directory{};   // of this run; removed at its end
  std::string group{};       // its group in the hierarchies cpuset and cpu; "": none
  std::string impossible{};  // why there is no group, and how to fix it
};

// Runs the function in the enclosure and returns its result. With `apart` false it runs as an ordinary process. SIGINT,
// SIGTERM, SIGHUP and the death of this process end all of it. Raises std::exception if it cannot start.
int run_enclosed(bool apart, const std::function<int(const Enclosure&)>& inside);

}  // namespace interactivity
