// AsyncInvocation: one call through an asynchronous stub: marshal(), then send(), which returns when the request is
// sent. CORBA 3.3 part 1, 22.9 (AMI callback model).
//
// Threads: the caller's; the reply is heard on a thread of the ORB, one for each connection, one reply after another.
// The call goes over the connection that all calls share, also to an object of this process.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "orb/cdr/codec.h"
#include "orb/core/handle.h"
#include "orb/core/invocation.h"
#include "orb/core/object.h"
#include "orb/core/operation.h"

namespace corelane::core {

// How an asynchronous call ended. Valid while its handler runs.
class AsyncReply {
 public:
  AsyncReply(cdr::Reader& results, std::exception_ptr exception)
      : results_(results), exception_(std::move(exception)) {}

  // Result, inout and out values, in order. False: the call ended with an exception.
  template <typename... T>
  bool unmarshal(T&... results) {
    if (exception_) return false;
    cdr::Reader::Attempt attempt(results_);
    if ((decode(results_, results) && ... && true)) return attempt.keep();
    note_bad_reply();
    return false;
  }
  // What the call raised: an exception of the operation or of the system.
  const std::exception_ptr& exception() const noexcept { return exception_; }

 private:
  void note_bad_reply() noexcept;

  cdr::Reader& results_;
  std::exception_ptr exception_;
};

class AsyncInvocation {
 public:
  using OnReply = std::function<void(AsyncReply&)>;

  // `operation` is a constant.
  AsyncInvocation(const Object& object, const Operation& operation);
  AsyncInvocation(const AsyncInvocation&) = delete;
  AsyncInvocation& operator=(const AsyncInvocation&) = delete;
  ~AsyncInvocation();

  // In and inout arguments, in order.
  template <typename... T>
  void marshal(const T&... arguments) {
    [[maybe_unused]] cdr::Writer& writer = request();
    (encode(writer, arguments), ...);
  }

  // Sends. What keeps the request from being sent is raised here, and no handler hears of it; all else goes to the
  // handler, exactly once: the reply, or the exception, COMM_FAILURE too when the ORB ends. A nil one: nobody is told.
  template <typename Handler>
  void send(const Handle<Handler>& handler, std::type_identity_t<void (*)(Handler&, AsyncReply&)> on_reply) {
    if (!handler) return send(nullptr);
    send([handler, on_reply](AsyncReply& reply) { on_reply(*handler, reply); });
  }
  void send(OnReply on_reply);

 private:
  cdr::Writer& request();

  const Operation& operation_;
  std::unique_ptr<ClientCall, ClientCallRecycler> call_;
};

}  // namespace corelane::core
