// ServerRequest gives a skeleton access to one request: it reads the arguments and writes the results.
//
// Threads: the one that runs the upcall. Valid during the upcall.
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "orb/cdr/codec.h"
#include "orb/core/object.h"
#include "orb/core/requests/kept_result.h"

namespace corelane::core {

class ServerRequest {
 public:
  // `kept`: null if the caller uses the results only during the upcall.
  ServerRequest(cdr::Reader& arguments, cdr::Writer& results, KeptResult* kept = nullptr)
      : arguments_(arguments), results_(results), kept_(kept) {}

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

  // Writes the result, the inout and the out values, in order. May take over the last one, and leave it empty.
  template <typename... T>
  void marshal(T&&... results) {
    if constexpr (sizeof...(T) != 0) marshal_in_order(results...);
  }

 private:
  template <typename T, typename... Rest>
  void marshal_in_order(T& value, Rest&... rest) {
    if constexpr (sizeof...(Rest) != 0) {
      encode(results_, std::as_const(value));
      marshal_in_order(rest...);
    } else {
      marshal_last(value);
    }
  }
  template <typename T>
  void marshal_last(T& value) {
    encode(results_, std::as_const(value));
  }
  // Keeps a long sequence if the client can read it while it is sent.
  template <cdr::Primitive T>
  requires(!std::same_as<T, bool>) void marshal_last(std::vector<T>& values) {
    if (kept_ == nullptr || !results_.wants_reference(values.size() * sizeof(T))) return encode(results_, values);
    cdr::encode_lasting(results_, values);
    if (results_.has_lasting()) kept_->keep(values);
  }
  [[noreturn]] void raise_bad_arguments() const;
  // A peer may add padding to a body without arguments.
  void finish_arguments(std::size_t count) {
    if (arguments_.available() > (count == 0 ? 7u : 0u)) raise_trailing_bytes();
  }
  [[noreturn]] void raise_trailing_bytes();

  cdr::Reader& arguments_;
  cdr::Writer& results_;
  KeptResult* const kept_;
  bool begun_ = false;
};

}  // namespace corelane::core
