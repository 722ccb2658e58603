#include "orb/core/policies/relative_roundtrip_timeout.h"

#include <algorithm>

namespace corelane::core::policies {
namespace {

constexpr std::uint64_t unit = 100;  // ns
// Beyond this, the end of a call that begins now could not be represented.
constexpr auto longest_roundtrip = static_cast<std::uint64_t>(Duration::max().count()) / 4;

}  // namespace

const PolicyKind relative_roundtrip_timeout{
    .name = "Messaging::RelativeRoundtripTimeoutPolicy",
    .type = 32,
    .taker = PolicyKind::Taker::reference,
    .fallback = 0,
    .read = [](const any::Any& value) -> Expected<PolicyValue, PolicyFault> {
      std::uint64_t time = 0;
      if (!value.extract(time, any::basic::ulonglong) || time == 0) return PolicyFault::bad_policy_value;
      return time;
    },
};

Duration roundtrip_time_of(PolicyValue value) noexcept {
  return Duration{static_cast<std::int64_t>(std::min(value, longest_roundtrip / unit) * unit)};
}

}  // namespace corelane::core::policies
