// Names of the overrun policies, as settings, contract files and messages use them. A policy says what happens to a job
// that exceeds its budget.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "orb/base/contract.h"

namespace corelane {

inline constexpr std::array<std::string_view, 3> overrun_names{"report", "demote", "cancel"};

constexpr std::string_view name_of(OverrunPolicy policy) noexcept {
  return overrun_names[static_cast<std::size_t>(policy)];
}

constexpr std::optional<OverrunPolicy> overrun_policy_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < overrun_names.size(); ++i)
    if (overrun_names[i] == name) return static_cast<OverrunPolicy>(i);
  return std::nullopt;
}

}  // namespace corelane
