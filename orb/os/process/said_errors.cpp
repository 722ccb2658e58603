#include "orb/os/process/said_errors.h"

#include <new>

#include "orb/os/log.h"

namespace corelane::os::log {
namespace {

thread_local SaidErrors* innermost = nullptr;

}  // namespace

SaidErrors::SaidErrors() noexcept : outer_(innermost) { innermost = this; }

SaidErrors::~SaidErrors() {
  innermost = outer_;
  for (const std::string& line : lines_) error(line);
}

std::string SaidErrors::take() {
  std::string text;
  for (const std::string& line : lines_) text.append(text.empty() ? "" : "; ").append(line);
  lines_.clear();
  return text;
}

bool SaidErrors::keep(std::string_view line) noexcept try {
  if (innermost == nullptr) return false;
  innermost->lines_.emplace_back(line);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace corelane::os::log
