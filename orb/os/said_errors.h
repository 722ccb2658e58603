// SaidErrors: what this thread logs as errors while one lives, for who turns the failure into an exception: why a start
// failed is to be in the exception, too, also where the log is off or somewhere else.
// Threads: each is its thread's own; they nest, and all of them hear.
#pragma once

#include <string>
#include <string_view>

namespace corelane::os::log {

class SaidErrors {
 public:
  SaidErrors() noexcept;
  SaidErrors(const SaidErrors&) = delete;
  SaidErrors& operator=(const SaidErrors&) = delete;
  ~SaidErrors();

  // Several with "; " between them; empty: nothing was said.
  const std::string& text() const noexcept { return text_; }

  // By error() of log.h.
  static void hear(std::string_view line) noexcept;

 private:
  std::string text_;
  SaidErrors* const outer_;
};

}  // namespace corelane::os::log
