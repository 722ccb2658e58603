// AsyncInvocation is one call through an asynchronous stub. Call marshal(), then send(), which returns when the request
// is sent. CORBA 3.3 part 1, 22.9 (AMI callback model).
//
// Threads: the caller's. The handler runs on a thread of the ORB: one thread for each connection, which handles one
// reply after another. The call goes over a connection for calls outside tasks, also if the object is in this process.
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

// AsyncReply says how an asynchronous call ended. It is valid while its handler runs.
class AsyncReply {
 public:
  AsyncReply(cdr::Reader& results, std::exception_ptr exception)
      : results_(results), exception_(std::move(exception)) {}

  // Decodes the result, inout and out values, in order. Returns false if the call raised an exception, or if they
  // cannot be decoded; see exception().
  template <typename... T>
  bool unmarshal(T&... results) {
    if (exception_) return false;
    cdr::Reader::Attempt attempt(results_);
    if ((decode(results_, results) && ... && true)) return attempt.keep();
    note_bad_reply();
    return false;
  }
  // Returns what the call raised, a user exception or a system exception; null if nothing.
  const std::exception_ptr& exception() const noexcept { return exception_; }

 private:
  void note_bad_reply() noexcept;

  cdr::Reader& results_;
  std::exception_ptr exception_;
};

class AsyncInvocation {
 public:
  using OnReply = std::function<void(AsyncReply&)>;

  // `operation` must outlive the call; in generated code it is a constant.
  AsyncInvocation(const Object& object, const Operation& operation);
  AsyncInvocation(const AsyncInvocation&) = delete;
  AsyncInvocation& operator=(const AsyncInvocation&) = delete;
  ~AsyncInvocation();

  // Encodes the in and inout arguments, in order.
  template <typename... T>
  void marshal(const T&... arguments) {
    [[maybe_unused]] cdr::Writer& writer = request();
    (encode(writer, arguments), ...);
  }

  // Sends the request. Raises what prevents sending; then the handler is not called. Otherwise the handler is called
  // exactly once, with the reply or an exception. If the ORB ends first, the exception is COMM_FAILURE. With a nil
  // handler, the outcome is ignored.
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
