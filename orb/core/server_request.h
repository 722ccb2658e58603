// ServerRequest: what a skeleton sees of one request: its arguments to read, its results to write.
//
// Threads: the one that runs the upcall. Valid during it.
#pragma once

#include "orb/cdr/codec.h"
#include "orb/core/object.h"

namespace corelane::core {

class ServerRequest {
 public:
  ServerRequest(cdr::Reader& arguments, cdr::Writer& results) : arguments_(arguments), results_(results) {}

  // The in and inout arguments, all at once and in order. Raises MARSHAL, COMPLETED_NO; bytes that are left over too.
  template <typename... T>
  void unmarshal(T&... arguments) {
    cdr::Reader::Attempt attempt(arguments_);
    if (!(decode(arguments_, arguments) && ... && true)) raise_bad_arguments();
    finish_arguments(sizeof...(T));
    attempt.keep();
  }

  // Result, inout and out values, in order.
  template <typename... T>
  void marshal(const T&... results) {
    (encode(results_, results), ...);
  }

 private:
  [[noreturn]] void raise_bad_arguments() const;
  void finish_arguments(std::size_t count);

  cdr::Reader& arguments_;
  cdr::Writer& results_;
};

}  // namespace corelane::core
