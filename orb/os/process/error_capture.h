// ErrorCapture collects the errors that this thread logs, so that an exception can report the cause even if the log is
// off or goes elsewhere. Each error is reported once: by the code that calls take(), or else by the log.
// Threads: an object belongs to the thread that made it. Objects nest: the innermost one collects, and passes errors
// that were not taken to the next outer one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corelane::os::log {

class ErrorCapture {
 public:
  ErrorCapture() noexcept;
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;
  ~ErrorCapture();  // passes on what was not taken

  // Returns the collected errors, joined with "; "; empty if there were none. The caller reports them to its user.
  std::string take();

  // Called by error() of log.h. Returns false if this thread has no object or there is no memory; then the line goes to
  // the log.
  static bool keep(std::string_view line) noexcept;

 private:
  std::vector<std::string> lines_;
  ErrorCapture* const outer_;
};

}  // namespace corelane::os::log
