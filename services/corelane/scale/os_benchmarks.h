// The micro-benchmarks of `corelane scale os`: services of the kernel that programs on different cores share (Cui).
// Threads: any. Work belongs to one process.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "orb/os/fd.h"
#include "services/corelane/scale/bound_processes.h"

namespace corelane::tool {

// What all processes share; they inherit it.
class OsInputs {
 public:
  // The file has `size` bytes, exists without a name in the folder for temporary files, and its pages are in memory.
  // Throws std::system_error. 0: no file.
  explicit OsInputs(std::size_t file_size);

  int file() const { return file_.get(); }
  std::size_t file_size() const { return file_size_; }
  int semaphore() const { return semaphore_.get(); }

 private:
  std::size_t file_size_ = 0;
  os::Fd file_{};
  os::Fd semaphore_{};  // an eventfd that counts
};

struct OsBenchmark {
  std::string_view name;
  std::string_view unit;  // what one unit of work is
  // Returns the work of one process. `inputs` must outlive it. Thread: that of the process.
  UnitOfWork (*prepare)(const OsInputs& inputs);
  bool needs_file = false;
};

std::span<const OsBenchmark> os_benchmarks();

}  // namespace corelane::tool
