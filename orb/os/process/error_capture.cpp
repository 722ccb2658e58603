#include "orb/os/process/error_capture.h"

#include <new>

#include "orb/os/log.h"

namespace corelane::os::log {
namespace {

thread_local ErrorCapture* innermost = nullptr;

}  // namespace

ErrorCapture::ErrorCapture() noexcept : outer_(innermost) { innermost = this; }

ErrorCapture::~ErrorCapture() {
  innermost = outer_;
  for (const std::string& line : lines_) error(line);
}

std::string ErrorCapture::take() {
  std::string text;
  for (const std::string& line : lines_) text.append(text.empty() ? "" : "; ").append(line);
  lines_.clear();
  return text;
}

bool ErrorCapture::keep(std::string_view line) noexcept try {
  if (innermost == nullptr) return false;
  innermost->lines_.emplace_back(line);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace corelane::os::log
