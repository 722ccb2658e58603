#include "orb/core/chains/call_chain.h"

#include <utility>

#include "orb/base/thread_value.h"
#include "orb/dispatch/current.h"

namespace corelane::core {
namespace {

thread_local ChainedCall* working_for = nullptr;  // the call that the thread works for

struct KeptParker {
  const std::shared_ptr<os::Parker> parker = std::make_shared<os::Parker>();
};

std::shared_ptr<os::Parker> parker_of_thread() {
  const auto* const kept = thread_value<KeptParker>();
  return kept != nullptr ? kept->parker : std::make_shared<os::Parker>();
}

TaskId current_task() noexcept {
  const dispatch::CurrentJob* job = dispatch::current_job();
  return job != nullptr ? job->context.task : no_task;
}

}  // namespace

ChainedCall::ChainedCall()
    : parker_(parker_of_thread()), task_(current_task()), outer_(working_for), waits_(ServedChain::current()) {}

ChainedCall::Scope::Scope(ChainedCall& call) noexcept
    : before_(std::exchange(working_for, &call)), served_(call.waits_) {}

ChainedCall::Scope::~Scope() { working_for = before_; }

// Bound: the duration of the call and of its call-backs.
void ChainedCall::wait() noexcept {
  for (;;) {
    Posted* posted = nullptr;
    {
      const dispatch::SuspensionScope waits;
      // PAIR chain.done: acquire here <- release in done(). PAIR chain.posted: acquire here <- release in call_back().
      // Bound: as above, plus one stale token of an earlier call.
      while (!done_.load(std::memory_order_acquire)) {
        posted = posted_.exchange(nullptr, std::memory_order_acquire);
        if (posted != nullptr) break;
        parker_->park(never);
      }
    }
    if (posted == nullptr) return;
    {
      const Scope scope(posted->answer);
      posted->work.run();
    }
    posted->answer.done();
  }
}

void ChainedCall::done() noexcept {
  const std::shared_ptr<os::Parker> parker = parker_;
  // PAIR chain.done: release here -> acquire in wait(). Publishes the callee's results.
  done_.store(true, std::memory_order_release);
  parker->unpark();
}

ChainedCall* ChainedCall::current() noexcept { return working_for; }

ChainedCall* ChainedCall::of_task(TaskId task, ChainedCall* call) noexcept {
  while (call != nullptr && call->task_ != task) call = call->outer_;  // bound: the depth of the chain
  return call;
}

bool ChainedCall::call_back(TaskId task, CallBack& work) noexcept {
  if (task == no_task) return false;
  if (current_task() == task) return work.run(), true;
  ChainedCall* const call = of_task(task, working_for);
  if (call == nullptr) return false;
  ChainedCall answer;
  Posted posted{work, answer};
  // PAIR chain.posted: release here -> acquire in wait(). Publishes the call-back.
  call->posted_.store(&posted, std::memory_order_release);
  call->parker_->unpark();
  answer.wait();
  return true;
}

}  // namespace corelane::core
