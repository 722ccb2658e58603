// An exception that says nothing of itself: its what() is null, as nothing forbids.
#pragma once

#include <exception>

namespace corelane::testing {

struct Speechless final : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

}  // namespace corelane::testing
