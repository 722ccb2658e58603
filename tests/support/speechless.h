// Speechless is an exception without a text: its what() is null, which nothing forbids.
#pragma once

#include <exception>

namespace corelane::testing {

struct Speechless final : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

}  // namespace corelane::testing
