#include "orb/core/client/async_calls.h"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/text/what_of.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/mutex.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

using errors::orb_destroyed;

constexpr std::chrono::milliseconds idle_time{100};  // a collector's thread ends after this time without calls
// For how long a collector waits for the rest of a reply before it looks at its other calls. A copy takes less.
constexpr std::chrono::milliseconds rest_time{1};

thread_local bool handling = false;

void complain(std::string_view thrown) noexcept try {
  os::log::warn("a reply was not delivered, or its handler threw: " + std::string(thrown));
} catch (const std::bad_alloc&) {
  os::log::warn("a reply was not delivered, or its handler threw");
}

// Calls the handler. Logs what it throws, because no caller could catch it.
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

// Collector holds the asynchronous calls of one connection. Its thread waits for their replies.
class AsyncCalls::Collector final : public os::ThreadGroup::Member {
 public:
  Collector(AsyncCalls& all, std::shared_ptr<ClientConnection> connection)
      : all_(all), connection_(std::move(connection)) {}

  const std::shared_ptr<ClientConnection>& connection() const noexcept { return connection_; }

  enum class Posted : std::uint8_t { sent, not_sent, stopped };
  // Sends the request. not_sent: the request was not sent. stopped: the collector takes no more calls. In both cases,
  // and if post() raises, the caller owns the call again.
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

  // Stops taking calls if it has none, so that its thread ends. Returns whether it has stopped.
  bool stop_if_idle() {
    const os::LockGuard lock(mutex_);
    if (calls_.empty() && !settling_) stopping_ = true;
    return stopping_;
  }

  // Makes its thread end after the last of its calls. Call it after the connection was closed.
  void stop() noexcept {
    {
      const os::LockGuard lock(mutex_);
      stopping_ = true;
    }
    group_.wake();
  }

 private:
  // Bound: until it is idle or stop() is called. After stop(), until the closed connection has failed the calls in
  // progress.
  void live() noexcept override {
    handling = true;
    Time idle_since = os::now();
    PendingReply* arriving = nullptr;  // calls whose replies the server still copies
    while (!is_over()) {
      PendingReply* const ended = connection_->attend(group_, idle_since + idle_time, arriving ? Time{} : never);
      const Time now = os::now();
      if (ended != nullptr || has_calls()) idle_since = now;
      arriving = settle_whole(arriving, settle_whole(ended, nullptr));
      if (now >= idle_since + idle_time && all_.let_go(*this)) return connection_.reset();
    }
  }

  bool has_calls() {
    const os::LockGuard lock(mutex_);
    return !calls_.empty();
  }

  // Adds the call. Returns false if the collector has stopped.
  bool enter(AsyncCall& call) {
    const os::LockGuard lock(mutex_);
    if (!stopping_) calls_.emplace(&call.call->pending(), std::move(call));
    return !stopping_;
  }

  bool is_over() {
    const os::LockGuard lock(mutex_);
    return stopping_ && calls_.empty();
  }

  // Settles the calls of the list whose replies are there. Puts the others before `rest`, and returns that list: the
  // handler of such a call would wait for the server, and other calls with it.
  PendingReply* settle_whole(PendingReply* list, PendingReply* rest) {
    while (list != nullptr) {  // bound: the list
      PendingReply* const reply = std::exchange(list, list->next());
      if (still_arrives(*reply)) {
        reply->call().next = rest;
        rest = reply;
      } else {
        settle(reply);
      }
    }
    return rest;
  }

  // Waits a moment for the rest of the reply. Returns whether there is still time for it to come.
  static bool still_arrives(const PendingReply& reply) noexcept {
    if (reply.arriving() == nullptr) return false;
    const Time deadline = reply.call().deadline;
    const auto whole = reply.arriving()->await(reply.message().bytes.size(), std::min(deadline, os::now() + rest_time));
    return !whole && whole.error().kind == ErrorKind::timeout && os::now() < deadline;
  }

  void settle(PendingReply* reply) {
    AsyncCall call;
    {
      const os::LockGuard lock(mutex_);
      call = std::move(calls_.extract(reply).mapped());
      settling_ = true;
    }
    end(call);
    const os::LockGuard lock(mutex_);
    settling_ = false;
  }

  // Removes a call that was not sent. Wakes the thread, because it may have been told to stop and may wait only for
  // this call.
  void take_back(AsyncCall& call, const PendingReply& reply) {
    {
      const os::LockGuard lock(mutex_);
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
  std::shared_ptr<ClientConnection> connection_;  // constant until the thread ends by itself
  ReplyGroup group_;

  os::Mutex mutex_;
  std::map<const PendingReply*, AsyncCall> calls_ CORELANE_GUARDED_BY(mutex_);
  bool settling_ CORELANE_GUARDED_BY(mutex_) = false;
  bool stopping_ CORELANE_GUARDED_BY(mutex_) = false;
};

AsyncCalls::AsyncCalls() = default;
AsyncCalls::~AsyncCalls() { close(); }

// Stops a collector if it is idle, so that its thread ends. Returns false if the collector must continue.
bool AsyncCalls::let_go(Collector& idle) {
  const os::LockGuard lock(mutex_);
  if (closed_ || !idle.stop_if_idle()) return false;
  std::erase_if(collectors_, [&](const auto& collector) { return collector.get() == &idle; });  // threads_ keeps it
  return true;
}

std::shared_ptr<AsyncCalls::Collector> AsyncCalls::collector_of(const std::shared_ptr<ClientConnection>& connection) {
  const os::LockGuard lock(mutex_);
  if (closed_) raise(orb_destroyed);
  for (const auto& collector : collectors_)
    if (collector->connection() == connection) return collector;
  collectors_.push_back(std::make_shared<Collector>(*this, connection));
  const auto started = threads_.start(collectors_.back());
  threads_.join_ended();
  if (started) return collectors_.back();
  collectors_.pop_back();
  raise(started.error());
}

void AsyncCalls::start(AsyncCall& call) {
  // Bound: the call's retries, and rounds in which the collector ends between collector_of() and post().
  for (;;) {
    const auto posted = collector_of(call.call->connection())->post(call);
    if (posted == Collector::Posted::sent) return;
    if (posted == Collector::Posted::not_sent) call.call->retry();
  }
}

void AsyncCalls::close() noexcept {
  std::vector<std::shared_ptr<Collector>> ending;
  {
    const os::LockGuard lock(mutex_);
    closed_ = true;
    ending.swap(collectors_);
  }
  for (const auto& collector : ending) {
    collector->connection()->close();
    collector->stop();
  }
  threads_.join();
}

bool inside_reply_handler() noexcept { return handling; }

}  // namespace corelane::core
