#include "orb/core/call_deadline.h"

#include <algorithm>

namespace corelane::core {
namespace {

thread_local Time calls_end_by = never;

}  // namespace

CallDeadline::CallDeadline(Time latest) noexcept : before_(calls_end_by) {
  calls_end_by = std::min(calls_end_by, latest);
}
CallDeadline::~CallDeadline() { calls_end_by = before_; }

Time CallDeadline::current() noexcept { return calls_end_by; }

}  // namespace corelane::core
