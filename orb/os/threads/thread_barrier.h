// order_threads() is a memory barrier in every thread of this process at once (Linux: membarrier). So a thread that
// does something often needs no barrier of its own. The thread that rarely looks pays for both.
//
// Threads: any.
//
// The folder orb/os/threads has what one thread needs of the kernel: scheduling class, core, barrier, state.
#pragma once

namespace corelane::os {

// Returns whether the system offers it. The first call registers the process. The answer never changes.
bool can_order_threads() noexcept;

// Ensures that each thread of this process passes a full memory barrier between the beginning and the end of this call.
// Interrupts the cores on which the threads run, for about a microsecond each. Call it only if can_order_threads().
void order_threads() noexcept;

}  // namespace corelane::os
