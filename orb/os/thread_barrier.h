// order_threads(): a memory barrier in every thread of this process at once (Linux: membarrier). A thread that does
// something often then needs no barrier of its own for it; the thread that seldom looks pays for both.
//
// Threads: any.
#pragma once

namespace corelane::os {

// Whether the system offers it. The first call registers the process. A system that has it at first has it for good.
bool can_order_threads() noexcept;

// Each thread of this process has passed a full memory barrier between the beginning and the end of this call.
// Interrupts the cores on which they run, for about a microsecond each. Call only where can_order_threads().
void order_threads() noexcept;

}  // namespace corelane::os
