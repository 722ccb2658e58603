#include "orb/os/threads/thread_barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace corelane::os {
namespace {

bool call_membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

bool can_order_threads() noexcept {
  static const bool can =
      call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  return can;
}

void order_threads() noexcept { (void)call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

}  // namespace corelane::os
