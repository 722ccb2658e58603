#include "orb/os/said_errors.h"

#include <new>

namespace corelane::os::log {
namespace {

thread_local SaidErrors* innermost = nullptr;

}  // namespace

SaidErrors::SaidErrors() noexcept : outer_(innermost) { innermost = this; }
SaidErrors::~SaidErrors() { innermost = outer_; }

void SaidErrors::hear(std::string_view line) noexcept try {
  for (SaidErrors* each = innermost; each != nullptr; each = each->outer_)
    each->text_.append(each->text_.empty() ? "" : "; ").append(line);
} catch (const std::bad_alloc&) {  // the log has it
}

}  // namespace corelane::os::log
