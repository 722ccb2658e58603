#include "services/nameserver/foreign_calls.h"

#include "orb/os/clock.h"
#include "orb/os/log.h"

namespace corelane::nameserver {

// relaxed, here and below: only the number counts; it publishes nothing else.
ForeignCalls::Turn::Counted::Counted(ForeignCalls& counting)
    : calls(counting),
      is_one_of_few(counting.under_way_.fetch_add(1, std::memory_order_relaxed) < counting.limits_.calls) {}

ForeignCalls::Turn::Counted::~Counted() { calls.under_way_.fetch_sub(1, std::memory_order_relaxed); }

ForeignCalls::Turn::Turn(ForeignCalls& calls) : counted_(calls) {
  if (counted_.is_one_of_few) {
    bound_.emplace(os::now() + calls.limits_.time);
    return;
  }
  calls.tell("as many calls into contexts of other servers are under way as naming.foreign_calls allows (" +
             std::to_string(calls.limits_.calls) + "): clients have to continue there themselves");
}

void ForeignCalls::tell(const std::string& what) {
  const Time now = os::now();
  Time next = told_next_.load(std::memory_order_relaxed);  // relaxed: it only decides which thread writes the line
  if (now < next || !told_next_.compare_exchange_strong(next, now + told_again, std::memory_order_relaxed)) return;
  os::log::warn("naming: " + what);
}

}  // namespace corelane::nameserver
