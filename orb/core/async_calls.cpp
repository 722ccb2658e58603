#include "orb/core/async_calls.h"

#include <cxxabi.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/what_of.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

using errors::orb_destroyed;

thread_local bool handling = false;

void complain(std::string_view thrown) noexcept try {
  os::log::warn("a reply handler threw: " + std::string(thrown));
} catch (const std::bad_alloc&) {
  os::log::warn("a reply handler threw something");
}

// What a handler throws has nobody to go to.
void tell(const AsyncInvocation::OnReply& on_reply, AsyncReply& reply) noexcept {
  if (!on_reply) return;
  try {
    on_reply(reply);
  } catch (const abi::__forced_unwind&) {
    os::end_with_thread("a reply handler");
  } catch (const std::exception& fault) {
    complain(what_of(fault));
  } catch (...) {
    complain("what is no std::exception");
  }
}

void finish(AsyncCall& call, std::exception_ptr exception) noexcept {
  AsyncReply reply(call.call->results(), std::move(exception));
  tell(call.on_reply, reply);
}

}  // namespace

// The calls of one connection and their thread.
class AsyncCalls::Collector {
 public:
  Collector(AsyncCalls& all, std::shared_ptr<ClientConnection> connection)
      : all_(all), connection_(std::move(connection)) {}
  // Not on its own thread.
  ~Collector() { stop(); }

  Expected<void> start() {
    auto thread = os::start_thread({.name = "async replies"}, [this] { run(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return {};
  }

  const std::shared_ptr<ClientConnection>& connection() const noexcept { return connection_; }

  // False: the request was not sent, and the call is the caller's again; likewise where it raises.
  bool post(AsyncCall& call) {
    ClientCall& sent = *call.call;
    if (!enter(call)) return sent.post(group_);  // the connection is not open any more, so it takes nothing
    try {
      if (sent.post(group_)) return true;
    } catch (...) {
      take_back(call, sent.pending());
      throw;
    }
    take_back(call, sent.pending());
    return false;
  }

  // True: it takes no more calls and its thread ends at once, because its connection carries nothing any more.
  bool retire() {
    const std::lock_guard lock(mutex_);
    if (calls_.empty() && !settling_ && !connection_->open()) stopping_ = true;
    return stopping_;
  }

  // After its connection was closed: waits for its thread, which ends when the last of its calls has.
  void stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    group_.wake();
    thread_.join();
  }

 private:
  // Bound: until stop(), and then until the connection, which is closed by then, has failed what is under way.
  void run() {
    handling = true;
    while (!is_over())
      for (PendingReply* reply = connection_->attend(group_); reply != nullptr;)
        settle(std::exchange(reply, reply->next()));
  }

  // False: it has stopped.
  bool enter(AsyncCall& call) {
    const std::lock_guard lock(mutex_);
    if (!stopping_) calls_.emplace(&call.call->pending(), std::move(call));
    return !stopping_;
  }

  bool is_over() {
    const std::lock_guard lock(mutex_);
    return stopping_ && calls_.empty();
  }

  void settle(PendingReply* reply) {
    AsyncCall call;
    {
      const std::lock_guard lock(mutex_);
      call = std::move(calls_.extract(reply).mapped());
      settling_ = true;
    }
    end(call);
    const std::lock_guard lock(mutex_);
    settling_ = false;
  }

  // The thread is woken: it may be told to stop, and wait for this call.
  void take_back(AsyncCall& call, const PendingReply& reply) {
    {
      const std::lock_guard lock(mutex_);
      call = std::move(calls_.extract(&reply).mapped());
    }
    group_.wake();
  }

  void end(AsyncCall& call) {
    try {
      if (!call.call->settle(call.raises)) return all_.start(call);
    } catch (...) {
      return finish(call, std::current_exception());
    }
    finish(call, nullptr);
  }

  AsyncCalls& all_;
  const std::shared_ptr<ClientConnection> connection_;
  ReplyGroup group_;
  os::Thread thread_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<const PendingReply*, AsyncCall> calls_;
  bool settling_ = false;
  bool stopping_ = false;
};

AsyncCalls::AsyncCalls() = default;
AsyncCalls::~AsyncCalls() { close(); }

std::shared_ptr<AsyncCalls::Collector> AsyncCalls::collector_of(const std::shared_ptr<ClientConnection>& connection) {
  std::vector<std::shared_ptr<Collector>> retired;  // outlives the lock: who joins a thread holds up nobody
  const std::lock_guard lock(mutex_);
  if (closed_) raise(orb_destroyed);
  for (const auto& collector : collectors_)
    if (collector->connection() == connection) return collector;
  const auto kept = std::partition(collectors_.begin(), collectors_.end(), [](const auto& c) { return !c->retire(); });
  retired.assign(std::move_iterator(kept), std::move_iterator(collectors_.end()));
  collectors_.erase(kept, collectors_.end());
  auto made = std::make_shared<Collector>(*this, connection);
  if (const auto started = made->start(); !started) raise(started.error());
  return collectors_.emplace_back(std::move(made));
}

void AsyncCalls::start(AsyncCall& call) {
  // Bound: a call's retries.
  while (!collector_of(call.call->connection())->post(call)) call.call->retry();
}

void AsyncCalls::close() noexcept {
  std::vector<std::shared_ptr<Collector>> ending;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ending.swap(collectors_);
  }
  for (const auto& collector : ending) {
    collector->connection()->close();
    collector->stop();
  }
}

bool inside_reply_handler() noexcept { return handling; }

}  // namespace corelane::core
