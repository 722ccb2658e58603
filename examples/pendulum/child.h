// A child process of the demo with a pipe to its standard input and one from its standard output. Not copyable; the
// child is killed when its handle goes, and dies by itself when this process dies (it sees the end of its input).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "orb/base/time.h"

namespace corelane::pendulum {

class Child {
 public:
  // Starts this very program with `arguments`. Throws std::system_error.
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  // One line without its newline; nothing at the end of the child's output or after `patience`.
  std::optional<std::string> read_line(Duration patience);
  void write_line(const std::string& line) noexcept;  // an early death of the child shows in read_line()
  bool wait();                                        // for its end; true: exit status 0

 private:
  pid_t pid_ = -1;
  int in_ = -1;   // the child's standard input
  int out_ = -1;  // the child's standard output
  std::string buffer_;
};

}  // namespace corelane::pendulum
