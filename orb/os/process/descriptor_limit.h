// Handles the lack of file descriptors. A message explains how to raise the limit. SpareDescriptor reserves one
// descriptor for the next connection.
// Threads: the functions any; a SpareDescriptor one at a time.
#pragma once

#include <cstddef>
#include <string>

#include "orb/os/fd.h"

namespace corelane::os {

// Returns how many descriptors this process may have: the soft RLIMIT_NOFILE.
std::size_t descriptor_limit() noexcept;
// Returns whether an errno means that descriptors are exhausted: EMFILE for this process, ENFILE for the host.
bool is_out_of_descriptors(int number) noexcept;
// Returns a log text that names the limit, its value and how to raise it: "no file descriptor is left: ...". `number`:
// EMFILE or ENFILE.
std::string out_of_descriptors(int number);

// SpareDescriptor holds a descriptor that can be closed for a moment, to accept (and serve or refuse) one more
// connection when no descriptor is left.
class SpareDescriptor {
 public:
  // Makes a copy of `any` unless it already holds one. Returns false with errno if no descriptor is left. A system call
  // only when it makes the copy.
  bool hold(const Fd& any) noexcept;
  // Closes the descriptor. Returns false if it held none.
  bool give_up() noexcept;

 private:
  Fd copy_;
};

}  // namespace corelane::os
