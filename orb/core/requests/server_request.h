// ServerRequest gives a skeleton access to one request: it reads the arguments and writes the results.
//
// Threads: the one that runs the upcall. Valid during the upcall.
#pragma once

#include "orb/cdr/codec.h"
#include "orb/core/object.h"

namespace corelane::core {

class ServerRequest {
 public:
  ServerRequest(cdr::Reader& arguments, cdr::Writer& results) : arguments_(arguments), results_(results) {}

  // Reads the in and inout arguments, all at once and in order. Raises MARSHAL, COMPLETED_NO, also if bytes are left
  // over.
  template <typename... T>
  void unmarshal(T&... arguments) {
    cdr::Reader::Attempt attempt(arguments_);
    if (!(decode(arguments_, arguments) && ... && true)) raise_bad_arguments();
    finish_arguments(sizeof...(T));
    begun_ = attempt.keep();
  }
  // Returns whether the arguments have been read. From then on the servant may have run.
  bool begun() const noexcept { return begun_; }

  // Writes the result, the inout and the out values, in order.
  template <typename... T>
  void marshal(const T&... results) {
    (encode(results_, results), ...);
  }

 private:
  [[noreturn]] void raise_bad_arguments() const;
  // A peer may add padding to a body without arguments.
  void finish_arguments(std::size_t count) {
    if (arguments_.available() > (count == 0 ? 7u : 0u)) raise_trailing_bytes();
  }
  [[noreturn]] void raise_trailing_bytes();

  cdr::Reader& arguments_;
  cdr::Writer& results_;
  bool begun_ = false;
};

}  // namespace corelane::core
