// Expected<T> holds a value, or the Error that prevented it. It has the interface of std::expected (C++23), which g++
// 12 lacks.
#pragma once

#include <cassert>
#include <cstdint>
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
  // Constructs the value from the arguments, for a type that takes long to move.
  template <typename... Arguments>
  constexpr explicit Expected(std::in_place_t, Arguments&&... arguments)
      : state_(std::in_place_index<0>, std::forward<Arguments>(arguments)...) {}
  constexpr Expected(Unexpected<E> error) : state_(std::in_place_index<1>, error.error()) {}
  // Implicit, so that a function can say `return Error{...};`.
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

// Outcome holds one error or none, in one word.
template <typename E>
class Outcome;

template <typename E>
requires std::is_enum_v<E>
class Outcome<E> {
 public:
  constexpr Outcome() = default;
  constexpr explicit Outcome(E error) : word_(1 + static_cast<std::uint64_t>(error)) {}
  constexpr bool is_good() const { return word_ == 0; }
  constexpr E error() const { return assert(!is_good()), static_cast<E>(word_ - 1); }

 private:
  std::uint64_t word_ = 0;
};

// Bits: 0 to 7 the kind, 8 to 15 the completion, 16 that there is an error, 32 to 63 the minor code.
template <>
class Outcome<Error> {
 public:
  constexpr Outcome() = default;
  constexpr explicit Outcome(Error error)
      : word_(static_cast<std::uint64_t>(error.kind) | static_cast<std::uint64_t>(error.completed) << 8 | is_error |
              std::uint64_t{error.minor} << 32) {}
  constexpr bool is_good() const { return word_ == 0; }
  constexpr Error error() const {
    assert(!is_good());
    return {static_cast<ErrorKind>(word_ & 0xff), static_cast<Completion>(word_ >> 8 & 0xff),
            static_cast<std::uint32_t>(word_ >> 32)};
  }

 private:
  static constexpr std::uint64_t is_error = 1 << 16;

  std::uint64_t word_ = 0;
};

template <typename E>
concept OneWord = std::is_enum_v<E> || std::is_same_v<E, Error>;

// A result of this kind fits into two registers. A variant would be built byte by byte on the stack and then read as
// words. The core would wait longer for that than for all the rest of a short call.
template <typename T, typename E>
concept TwoWords = OneWord<E> && !std::is_same_v<T, E> && std::is_trivially_copyable_v<T> &&
                   std::is_default_constructible_v<T> && sizeof(T) <= sizeof(std::uint64_t);

template <typename T, typename E>
requires TwoWords<T, E>
class [[nodiscard]] Expected<T, E> {
 public:
  using value_type = T;
  using error_type = E;

  constexpr Expected(T value) : value_(value) {}
  constexpr Expected(Unexpected<E> error) : outcome_(error.error()) {}
  constexpr Expected(E error) : outcome_(error) {}

  constexpr bool has_value() const { return outcome_.is_good(); }
  constexpr explicit operator bool() const { return has_value(); }

  constexpr T& value() & { return assert(has_value()), value_; }
  constexpr const T& value() const& { return assert(has_value()), value_; }
  constexpr T value() && { return assert(has_value()), value_; }
  constexpr T& operator*() & { return value(); }
  constexpr const T& operator*() const& { return value(); }
  constexpr T operator*() && { return value(); }
  constexpr T* operator->() { return &value(); }
  constexpr const T* operator->() const { return &value(); }

  constexpr E error() const { return outcome_.error(); }
  constexpr T value_or(T fallback) const { return has_value() ? value_ : fallback; }

 private:
  T value_{};
  Outcome<E> outcome_;
};

template <OneWord E>
class [[nodiscard]] Expected<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  constexpr Expected() = default;
  constexpr Expected(Unexpected<E> error) : outcome_(error.error()) {}
  constexpr Expected(E error) : outcome_(error) {}

  constexpr bool has_value() const { return outcome_.is_good(); }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr E error() const { return outcome_.error(); }

 private:
  Outcome<E> outcome_;
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
