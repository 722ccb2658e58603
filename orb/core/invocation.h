// Invocation is one call through a stub, on the caller's stack. Generated code uses it in this order: try_local(); if
// that returns false, marshal(), invoke() and unmarshal().
//
// Thread: the caller's. It raises the mapped exceptions. Its buffers come from a cache of each thread, so a warm call
// allocates nothing itself.
#pragma once

#include <memory>

#include "orb/cdr/codec.h"
#include "orb/core/object.h"
#include "orb/core/operation.h"

namespace corelane::core {

class ClientCall;
struct ClientCallRecycler {
  void operator()(ClientCall* call) const noexcept;
};

class Invocation {
 public:
  Invocation(const Object& object, const Operation& operation) noexcept : object_(object), operation_(operation) {}
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  // Runs the call if the object is in this process; otherwise returns false. The values are the result (unless void),
  // then the parameters in the order of their declaration. The servant's exceptions pass through.
  template <typename... T>
  bool try_local(T&... values) {
    void* const frame[] = {address_of(values)..., nullptr};
    return run_local(frame);
  }

  // Encodes the in and inout arguments, in order. May be called again for more. The arguments must not change until
  // invoke() has ended.
  template <typename... T>
  void marshal(const T&... arguments) {
    [[maybe_unused]] cdr::Writer& writer = request();
    (cdr::encode_lasting(writer, arguments), ...);
  }

  // Sends the request, and waits for the reply unless the operation is oneway.
  void invoke();

  // Decodes the result, inout and out values, in order. Raises MARSHAL, COMPLETED_YES.
  template <typename... T>
  void unmarshal(T&... results) {
    [[maybe_unused]] cdr::Reader& reader = reply();
    cdr::Reader::Attempt attempt(reader);
    if (!(decode(reader, results) && ... && true)) raise_bad_reply();
    attempt.keep();
  }

 private:
  template <typename T>
  static void* address_of(T& value) {
    return const_cast<void*>(static_cast<const volatile void*>(std::addressof(value)));
  }
  bool run_local(void* const* frame);
  cdr::Writer& request();
  cdr::Reader& reply();
  [[noreturn]] void raise_bad_reply();

  const Object& object_;
  const Operation& operation_;
  std::unique_ptr<ClientCall, ClientCallRecycler> call_;
};

}  // namespace corelane::core
