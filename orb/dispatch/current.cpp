#include "orb/dispatch/current.h"

#include <utility>

namespace corelane::dispatch {
namespace {

thread_local const CurrentJob* current = nullptr;

}  // namespace

const CurrentJob* current_job() noexcept { return current; }

CurrentScope::CurrentScope(const CurrentJob& job) noexcept : before_(std::exchange(current, &job)) {}

CurrentScope::~CurrentScope() { current = before_; }

}  // namespace corelane::dispatch
