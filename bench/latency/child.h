// Child: a process of the benchmark, pinned to one hardware thread, whose output the driver reads. It ends with its
// handle and with the driver.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace latency {

class Child {
 public:
  // Starts program arguments[0]; std::runtime_error when the system refuses.
  Child(const std::vector<std::string>& arguments, int core);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // Its next line without the newline. std::runtime_error when it ends or says nothing in time.
  std::string read_line();

  // Everything that it writes until it ends, as samples. std::runtime_error when it fails or stops writing.
  std::vector<std::uint64_t> read_samples();

 private:
  bool fill();          // reads once; false at the end of the output
  int wait() noexcept;  // its status; -1 when there is none

  std::string name_;
  pid_t pid_ = -1;
  int out_ = -1;
  std::string buffer_;
};

}  // namespace latency
