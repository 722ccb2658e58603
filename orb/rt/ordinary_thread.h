// on_ordinary_thread() runs a function outside the calling task, and waits until it ends.
//
// A task's thread is bound to a core and runs under SCHED_FIFO. What it starts begins under SCHED_OTHER, so it takes no
// time from tasks. But programs started by popen(), system(), posix_spawn() and vfork(), and new threads, stay on the
// task's core. There they only get the time that the tasks leave. The function passed here runs on a thread that is
// bound to no core, and so does what it starts:
//
//   FILE* const pipe = corelane::rt::on_ordinary_thread([] { return popen("date", "re"); });
//
// A child of fork() does not need this: it leaves the core by itself.
//
// Threads: any. The calling job is suspended meanwhile, so its contract must declare the time as suspension S. Not
// allowed within an rt::Suspension.
#pragma once

#include "orb/base/language.h"

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "orb/os/unique_function.h"

namespace corelane::rt {

namespace detail {

// Raises NO_RESOURCES no_thread. The function must not throw.
void run_on_ordinary_thread(os::UniqueFunction<void()> function);

}  // namespace detail

// Returns the function's result, and throws what it throws. Raises NO_RESOURCES no_thread. The function's thread
// belongs to no task, so corelane::rt::current() is empty there. Its stack has 256 KiB.
template <typename Function>
std::invoke_result_t<Function&> on_ordinary_thread(Function&& function) {
  using Result = std::invoke_result_t<Function&>;
  std::exception_ptr thrown;
  const auto guarded = [&thrown](auto&& body) {
    try {
      body();
    } catch (...) {
      thrown = std::current_exception();
    }
  };
  if constexpr (std::is_void_v<Result>) {
    detail::run_on_ordinary_thread([&] { guarded([&] { std::invoke(function); }); });
    if (thrown) std::rethrow_exception(thrown);
  } else {
    std::optional<Result> result;
    detail::run_on_ordinary_thread([&] { guarded([&] { result.emplace(std::invoke(function)); }); });
    if (thrown) std::rethrow_exception(thrown);
    return *std::move(result);
  }
}

}  // namespace corelane::rt
