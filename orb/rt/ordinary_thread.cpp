#include "orb/rt/ordinary_thread.h"

#include "orb/core/exception.h"
#include "orb/dispatch/current.h"
#include "orb/os/thread.h"

namespace corelane::rt::detail {

void run_on_ordinary_thread(os::UniqueFunction<void()> function) {
  const dispatch::SuspensionScope asleep;
  auto thread = os::start_thread({.name = "cl-outside"}, std::move(function));
  if (!thread) core::raise(thread.error());
  thread->join();
}

}  // namespace corelane::rt::detail
