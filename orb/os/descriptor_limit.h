// What a process does that has no file descriptor left: says so in words that mend it, and keeps one back for whoever
// comes then.
// Threads: functions any; a SpareDescriptor one at a time.
#pragma once

#include <cstddef>
#include <string>

#include "orb/os/fd.h"

namespace corelane::os {

// How many this process may have: the soft RLIMIT_NOFILE.
std::size_t descriptor_limit() noexcept;
// Whether an errno says so: EMFILE of this process, ENFILE of the host.
bool is_out_of_descriptors(int number) noexcept;
// The limit, what it is, and how to raise it, for the log: "no file descriptor is left: ...". `number`: EMFILE or
// ENFILE.
std::string out_of_descriptors(int number);

// A number that is given up for a moment to take, and turn away or let in, one for whom there would be none.
class SpareDescriptor {
 public:
  // A copy of `any`, unless there is one. False: there is no number, as errno says. A system call where it lacks.
  bool hold(const Fd& any) noexcept;
  // False: there was none.
  bool give_up() noexcept;

 private:
  Fd copy_;
};

}  // namespace corelane::os
