// All that generated client code needs. Generated servant code includes orb/corba/servant.h too.
#pragma once

#include "orb/base/language.h"

#include <array>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "orb/any/desc_of.h"
#include "orb/base/contract.h"
#include "orb/cdr/codec.h"
#include "orb/corba/exception.h"
#include "orb/corba/object.h"
#include "orb/corba/typecode.h"
#include "orb/core/invocation.h"
#include "orb/core/operation.h"

namespace corelane {

// Raised when generated code and library must change together.
inline constexpr int generated_version = 3;

// Returns an array, perhaps of arrays, all of whose elements are `value`.
template <typename Array, typename T>
constexpr Array filled(const T& value) {
  Array out{};
  for (auto& element : out) {
    using Element = std::remove_reference_t<decltype(element)>;
    if constexpr (std::is_same_v<Element, T>)
      element = value;
    else
      element = filled<Element>(value);
  }
  return out;
}

}  // namespace corelane
