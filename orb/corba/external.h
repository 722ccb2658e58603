// IDL::external and IDL::optional_external are types of struct or union members with the IDL annotation @external. They
// store the member outside its struct or union, so that a type can contain itself.
//
// Both own at most one T, on the heap. They copy and compare the T, not its address, and are empty at first. T may be
// incomplete until one of their functions is used. An external is encoded as its T, so an empty one cannot be sent. An
// optional_external is encoded as a sequence of at most one T, like IDL::optional.
// Threads: as T.
#pragma once

#include "orb/base/language.h"

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "orb/core/exception.h"

namespace IDL {

template <typename T, bool is_optional = false>
class external {
 public:
  using element_type = T;

  external() noexcept = default;
  template <typename U = T>
  requires std::same_as<std::remove_cvref_t<U>, T> external(U&& value)
      : value_(std::make_unique<T>(std::forward<U>(value))) {}
  external(const external& other) : value_(other.value_ == nullptr ? nullptr : std::make_unique<T>(*other.value_)) {}
  external(external&& other) noexcept : value_(std::move(other.value_)) {}
  ~external() = default;
  // The assigned value may be a part of the replaced one, so assign through a temporary.
  external& operator=(const external& other) {
    external copy(other);
    swap(copy);
    return *this;
  }
  external& operator=(external&& other) noexcept {
    external taken(std::move(other));
    swap(taken);
    return *this;
  }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  // Returns null if it is empty.
  T* get() noexcept { return value_.get(); }
  const T* get() const noexcept { return value_.get(); }
  // Return the value; BAD_PARAM if it is empty.
  T& operator*() { return *checked(); }
  const T& operator*() const { return *checked(); }
  T* operator->() { return checked(); }
  const T* operator->() const { return checked(); }

  // Replaces the value. The arguments may refer to the old value.
  template <typename... Arguments>
  T& emplace(Arguments&&... arguments) {
    std::unique_ptr<T> made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    value_.swap(made);
    return *value_;
  }
  void reset() noexcept { value_.reset(); }
  void swap(external& other) noexcept { value_.swap(other.value_); }
  friend void swap(external& a, external& b) noexcept { a.swap(b); }

  friend bool operator==(const external& a, const external& b) {
    return a.value_ == nullptr || b.value_ == nullptr ? a.value_ == b.value_ : *a.value_ == *b.value_;
  }

 private:
  T* checked() const {
    if (value_ == nullptr)
      ::corelane::core::raise(
          {::corelane::ErrorKind::bad_param, ::corelane::Completion::no, ::corelane::minor::empty_external});
    return value_.get();
  }

  std::unique_ptr<T> value_;
};

template <typename T>
using optional_external = external<T, true>;

template <typename T, bool is_optional>
void encode(::corelane::cdr::Writer& writer, const external<T, is_optional>& value) {
  if constexpr (is_optional) writer.write_length(value ? 1 : 0);
  if (value) return encode(writer, *value);
  if constexpr (!is_optional) writer.fail(::corelane::ErrorKind::bad_param, ::corelane::minor::empty_external);
}
// Uses one level of Reader::max_depth, which bounds the nesting of types that contain themselves.
template <typename T, bool is_optional>
bool decode(::corelane::cdr::Reader& reader, external<T, is_optional>& value) {
  const ::corelane::cdr::Reader::Level level(reader);
  if (!level) return false;
  if constexpr (is_optional) {
    std::uint32_t count = 0;
    if (!reader.read(count)) return false;
    if (count > 1) return reader.fail(::corelane::minor::bound_exceeded);
    if (count == 0) return value.reset(), true;
  }
  return decode(reader, value.emplace());
}

}  // namespace IDL
