#include "orb/eval/generate/balanced.h"

#include <algorithm>
#include <cstdint>

#include "orb/eval/generate/fixed_log.h"

namespace corelane::eval {
namespace {

using sched::Share;

constexpr std::uint64_t greatest_weight = UINT64_MAX;  // about 1, in units of 2^-64

// Returns the balance factor in units of 2^-64.
std::uint64_t weight_of(Share balance) {
  const UnsignedWide fraction = (UnsignedWide{static_cast<std::uint64_t>(balance)} << 64) / sched::whole_share;
  return static_cast<std::uint64_t>(std::clamp<UnsignedWide>(fraction, 1, greatest_weight));
}

// Returns shares in proportion to the weights. Their sum is exactly `total`: what rounding leaves goes to the first
// ones, one unit each.
std::vector<Share> scaled_to(Share total, const std::vector<std::uint64_t>& weights) {
  UnsignedWide sum = 0;
  for (const std::uint64_t weight : weights) sum += weight;
  std::vector<Share> shares;
  Share missing = total;
  for (const std::uint64_t weight : weights) {
    shares.push_back(static_cast<Share>(UnsignedWide{static_cast<std::uint64_t>(total)} * weight / sum));
    missing -= shares.back();
  }
  for (std::size_t i = 0; missing > 0; ++i) ++shares[i], --missing;
  return shares;
}

}  // namespace

std::vector<Share> geometric_utilizations(std::size_t count, Share total, Share balance) {
  const FixedLog whole = (FixedLog{64} << log_bits) - log2_of(weight_of(balance));
  std::vector<std::uint64_t> weights;
  for (std::size_t i = 0; i < count; ++i)
    weights.push_back(count == 1 ? greatest_weight
                                 : two_to_minus(static_cast<FixedLog>(UnsignedWide{whole} * i / (count - 1))));
  return scaled_to(total, weights);
}

std::vector<Share> uniform_utilizations(Random& random, std::size_t count, Share total, Share balance) {
  const std::uint64_t least = weight_of(balance);
  std::vector<std::uint64_t> weights(count, greatest_weight);
  if (count > 1) weights.front() = least;
  for (std::size_t i = 1; i + 1 < count; ++i) weights[i] = least + below(random, greatest_weight - least + 1);
  return scaled_to(total, weights);
}

}  // namespace corelane::eval
