#include "orb/core/async_calls.h"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/what_of.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

using errors::orb_destroyed;

constexpr std::chrono::milliseconds idle_time{100};  // without calls: then a collector's thread ends

thread_local bool handling = false;

void complain(std::string_view thrown) noexcept try {
  os::log::warn("a reply was not delivered, or its handler threw: " + std::string(thrown));
} catch (const std::bad_alloc&) {
  os::log::warn("a reply was not delivered, or its handler threw");
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

  enum class Posted : std::uint8_t { sent, not_sent, stopped };
  // not_sent, and where it raises: the call is the caller's again. stopped: likewise, and this takes no more calls.
  Posted post(AsyncCall& call) {
    ClientCall& sent = *call.call;
    if (!enter(call)) return Posted::stopped;
    try {
      if (sent.post(group_)) return Posted::sent;
    } catch (...) {
      take_back(call, sent.pending());
      throw;
    }
    take_back(call, sent.pending());
    return Posted::not_sent;
  }

  // True: it takes no more calls from here on, and its thread ends, because it has none.
  bool stop_if_idle() {
    const std::lock_guard lock(mutex_);
    if (calls_.empty() && !settling_) stopping_ = true;
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
  // Bound: until it is idle or stop() is called, and then until the connection, which is closed by then, has failed
  // what is under way.
  void run() {
    handling = true;
    Time idle_since = os::now();
    while (!is_over()) {
      PendingReply* reply = connection_->attend(group_, idle_since + idle_time);
      const Time now = os::now();
      if (reply != nullptr || has_calls()) idle_since = now;
      while (reply != nullptr) settle(std::exchange(reply, reply->next()));
      if (now >= idle_since + idle_time && all_.let_go(*this)) return connection_.reset();
    }
  }

  bool has_calls() {
    const std::lock_guard lock(mutex_);
    return !calls_.empty();
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
  std::shared_ptr<ClientConnection> connection_;  // constant until the thread has let itself go
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

// A collector that is idle and ends. The one that ended before it is joined: at most one thread that has ended is kept.
// False: it is to go on.
bool AsyncCalls::let_go(Collector& idle) {
  std::shared_ptr<Collector> before;  // joined after the lock
  const std::lock_guard lock(mutex_);
  if (closed_ || !idle.stop_if_idle()) return false;
  const auto found =
      std::find_if(collectors_.begin(), collectors_.end(), [&](const auto& c) { return c.get() == &idle; });
  before = std::exchange(ended_, std::move(*found));
  collectors_.erase(found);
  return true;
}

std::shared_ptr<AsyncCalls::Collector> AsyncCalls::collector_of(const std::shared_ptr<ClientConnection>& connection) {
  const std::lock_guard lock(mutex_);
  if (closed_) raise(orb_destroyed);
  for (const auto& collector : collectors_)
    if (collector->connection() == connection) return collector;
  auto made = std::make_shared<Collector>(*this, connection);
  if (const auto started = made->start(); !started) raise(started.error());
  return collectors_.emplace_back(std::move(made));
}

void AsyncCalls::start(AsyncCall& call) {
  // Bound: a call's retries, and a collector's end that comes between its being found and its being used.
  for (;;) {
    const auto posted = collector_of(call.call->connection())->post(call);
    if (posted == Collector::Posted::sent) return;
    if (posted == Collector::Posted::not_sent) call.call->retry();
  }
}

void AsyncCalls::close() noexcept {
  std::vector<std::shared_ptr<Collector>> ending;
  std::shared_ptr<Collector> ended;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ending.swap(collectors_);
    ended.swap(ended_);
  }
  for (const auto& collector : ending) {
    collector->connection()->close();
    collector->stop();
  }
}

bool inside_reply_handler() noexcept { return handling; }

}  // namespace corelane::core
