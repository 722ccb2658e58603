#include "orb/sched/servant_samples.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace corelane::sched {
namespace {

constexpr int servant_times_to_stall = 4;
constexpr int solo_rate_lasts = 256;  // samples

double seconds_of(Duration time) noexcept { return std::chrono::duration<double>(time).count(); }

}  // namespace

double ServantWindow::seconds() const noexcept { return seconds_of(length); }

double ServantWindow::parallel() const noexcept {
  return length > Duration::zero() ? seconds_of(in_servants) / seconds() : 0;
}

int ServantWindow::running() const noexcept { return static_cast<int>(std::lround(parallel())); }

double ServantWindow::rate() const noexcept {
  return length > Duration::zero() ? static_cast<double>(ended) / seconds() : 0;
}

void ServantWindow::add(const ServantWindow& next) noexcept {
  length += next.length;
  in_servants += next.in_servants;
  ended += next.ended;
  full += next.full;
}

bool is_more_than_chance(double more, double less) noexcept { return more - less > 3 * std::sqrt(more + less); }

void ServantSamples::add(const ServantWindow& window) noexcept {
  sample_.add(window);
  ++windows_;
}

bool ServantSamples::is_complete(int shortest) const noexcept {
  // No longest time while servants of the other limit run: if none of them ends, ServantStall notices.
  if (is_settling_) return sample_.ended >= static_cast<std::uint64_t>(ran_before_);
  const bool has_enough = sample_.ended >= static_cast<std::uint64_t>(sample_.running());
  return (has_enough && windows_ >= shortest) || windows_ >= longest;
}

std::optional<ServantWindow> ServantSamples::end() noexcept {
  const ServantWindow sample = std::exchange(sample_, {});
  if (sample.ended > 0) servant_time_ = sample.in_servants / static_cast<std::int64_t>(sample.ended);
  windows_ = 0;
  if (std::exchange(is_settling_, false)) return {};
  return sample;
}

void ServantSamples::settle(int running) noexcept {
  sample_ = {};
  windows_ = 0;
  is_settling_ = true;
  ran_before_ = running;
}

bool ServantStall::take(const ServantWindow& window, bool is_limited, Duration servant_time) noexcept {
  const bool stands = is_limited && window.ended == 0 && window.full > Duration::zero();
  stalled_ = stands ? stalled_ + window.length : Duration::zero();
  if (!stands || stalled_ < std::clamp(servant_times_to_stall * servant_time, shortest, longest)) return false;
  stalled_ = {};
  return true;
}

void SoloRate::measure(const ServantWindow& sample) noexcept {
  rate_ = sample.rate();
  left_ = solo_rate_lasts;
}

bool SoloRate::expires() noexcept {
  if (rate_ <= 0 || --left_ > 0) return false;
  forget();
  return true;
}

}  // namespace corelane::sched
