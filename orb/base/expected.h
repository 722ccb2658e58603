// Expected<T>: a value or the Error that prevented it, in the shape of std::expected (C++23), which g++ 12 lacks.
// Threads: a value type; no shared state.
#pragma once

#include <cassert>
#include <type_traits>
#include <utility>
#include <variant>

#include "orb/base/error.h"

namespace corelane {

template <typename E>
class Unexpected {
 public:
  explicit constexpr Unexpected(E error) : error_(std::move(error)) {}
  constexpr const E& error() const { return error_; }

 private:
  E error_;
};

template <typename T, typename E = Error>
class [[nodiscard]] Expected {
 public:
  using value_type = T;
  using error_type = E;

  constexpr Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  constexpr Expected(Unexpected<E> error) : state_(std::in_place_index<1>, error.error()) {}
  // An Error turns into a failed result on its own, so that `return Error{...};` reads as what it is.
  constexpr Expected(E error) requires(!std::is_same_v<T, E>) : state_(std::in_place_index<1>, std::move(error)) {}

  constexpr bool has_value() const { return state_.index() == 0; }
  constexpr explicit operator bool() const { return has_value(); }

  constexpr T& value() & { return assert(has_value()), *std::get_if<0>(&state_); }
  constexpr const T& value() const& { return assert(has_value()), *std::get_if<0>(&state_); }
  constexpr T&& value() && { return assert(has_value()), std::move(*std::get_if<0>(&state_)); }
  constexpr T& operator*() & { return value(); }
  constexpr const T& operator*() const& { return value(); }
  constexpr T&& operator*() && { return std::move(*this).value(); }
  constexpr T* operator->() { return &value(); }
  constexpr const T* operator->() const { return &value(); }

  constexpr const E& error() const { return assert(!has_value()), *std::get_if<1>(&state_); }

  template <typename U>
  constexpr T value_or(U&& fallback) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  std::variant<T, E> state_;
};

template <typename E>
class [[nodiscard]] Expected<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  constexpr Expected() = default;
  constexpr Expected(Unexpected<E> error) : error_(error.error()), ok_(false) {}
  constexpr Expected(E error) : error_(std::move(error)), ok_(false) {}

  constexpr bool has_value() const { return ok_; }
  constexpr explicit operator bool() const { return ok_; }
  constexpr const E& error() const { return assert(!ok_), error_; }

 private:
  E error_{};
  bool ok_ = true;
};

}  // namespace corelane
