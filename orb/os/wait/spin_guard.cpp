#include "orb/os/wait/spin_guard.h"

#include <sched.h>

#include <optional>

#include "orb/os/machine/cpu_mask.h"
#include "orb/os/thread.h"

namespace corelane::os {
namespace {

constexpr std::chrono::milliseconds valid_for{10};

struct Remembered {
  SpinnerClass value{};
  std::optional<Time> asked{};
};

thread_local Remembered remembered;
thread_local IdleDebt owed;

}  // namespace

const SpinnerClass& spinner_class(Time now) noexcept {
  if (remembered.asked && now - *remembered.asked < valid_for) return remembered.value;
  remembered.value.real_time = is_real_time();
  remembered.value.only_core = remembered.value.real_time ? only_core_of(0) : no_core;
  remembered.asked = now;
  return remembered.value;
}

IdleDebt& idle_debt() noexcept { return owed; }

CoreId only_core_of(std::int32_t process) noexcept {
  CpuMask mask;
  if (sched_getaffinity(process, CpuMask::native_size, mask.native()) != 0) return no_core;
  return mask.only().value_or(no_core);
}

}  // namespace corelane::os
