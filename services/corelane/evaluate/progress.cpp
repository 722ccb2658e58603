#include "services/corelane/evaluate/progress.h"

#include <chrono>

namespace corelane::tool {
namespace {

std::string rest_text(std::chrono::seconds rest) {
  constexpr std::chrono::seconds minute{60};
  if (rest < 2 * minute) return std::to_string(rest.count()) + " s";
  return std::to_string(rest / minute) + " min";
}

}  // namespace

std::string Progress::after(std::uint64_t more, Time now) {
  done_ += more;
  const std::string text = std::to_string(done_) + " of " + std::to_string(runs_) + " runs";
  if (done_ == 0 || done_ >= runs_) return text;
  const double each = std::chrono::duration<double>(now - start_).count() / static_cast<double>(done_);
  const auto rest = static_cast<std::int64_t>(each * static_cast<double>(runs_ - done_)) + 1;
  return text + ", about " + rest_text(std::chrono::seconds{rest}) + " left";
}

}  // namespace corelane::tool
