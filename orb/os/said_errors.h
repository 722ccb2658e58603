// SaidErrors: keeps what this thread logs as errors while one lives, for the exception that tells of the failure, also
// where the log is off or somewhere else. Each error is told once: by the code that takes it, or else by the log.
// Threads: each is its thread's own. They nest: the innermost keeps errors, and gives those that were not taken to the
// one around it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corelane::os::log {

class SaidErrors {
 public:
  SaidErrors() noexcept;
  SaidErrors(const SaidErrors&) = delete;
  SaidErrors& operator=(const SaidErrors&) = delete;
  ~SaidErrors();  // what was not taken goes on to the log

  // Several with "; " between them; empty: there were none. The caller tells its user.
  std::string take();

  // By error() of log.h. False: this thread has none, or there is no memory, so the line is the log's.
  static bool keep(std::string_view line) noexcept;

 private:
  std::vector<std::string> lines_;
  SaidErrors* const outer_;
};

}  // namespace corelane::os::log
