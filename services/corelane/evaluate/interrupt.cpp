#include "services/corelane/evaluate/interrupt.h"

#include <atomic>
#include <cstddef>

namespace corelane::tool {
namespace {

std::atomic<bool> interrupt_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal's handler writes it

void note_interrupt(int) {
  interrupt_asked.store(true, std::memory_order_relaxed);  // relaxed: it publishes nothing else
}

}  // namespace

Interrupt::Interrupt() {
  interrupt_asked.store(false, std::memory_order_relaxed);  // relaxed: no signal comes before the next lines
  struct sigaction action {};
  action.sa_handler = &note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &before_[i]);
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
}

bool Interrupt::asked() noexcept {
  return interrupt_asked.load(std::memory_order_relaxed);  // relaxed: it publishes nothing else
}

}  // namespace corelane::tool
