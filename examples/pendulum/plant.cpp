#include "examples/pendulum/plant.h"

#include <algorithm>
#include <cmath>

namespace corelane::pendulum {
namespace {

constexpr double gravity = 9.81;
constexpr double longest_step = 0.0005;   // s; small against 1/natural frequency for every length in use
constexpr double gust_interval = 0.05;    // s
constexpr double gust_strength = 0.8;     // rad/s^2, the largest
constexpr double strongest_force = 60.0;  // m/s^2

}  // namespace

Plant::Plant(double length, std::uint64_t seed) : length_(length), random_(seed * 2 + 1) {}

void Plant::advance(Duration span, double force) noexcept {
  double left = std::chrono::duration<double>(span).count();
  while (left > 0 && stands_) {  // bounded by span / longest_step
    const double seconds = std::min(left, longest_step);
    step(seconds, force);
    left -= seconds;
  }
}

void Plant::step(double seconds, double force) noexcept {
  until_gust_ -= seconds;
  if (until_gust_ <= 0) {
    push_ = gust();
    until_gust_ = gust_interval;
  }
  const double acceleration = (gravity * std::sin(posture_.angle) - force * std::cos(posture_.angle)) / length_ + push_;
  posture_.rate += acceleration * seconds;  // semi-implicit Euler keeps the energy of a swing
  posture_.angle += posture_.rate * seconds;
  worst_angle_ = std::max(worst_angle_, std::abs(posture_.angle));
  stands_ = std::abs(posture_.angle) < fallen_angle;
}

// xorshift64 (Marsaglia 2003): the same seed gives the same gusts on every machine.
double Plant::gust() noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const double unit = static_cast<double>(random_ >> 11) / static_cast<double>(1ULL << 53);
  return (2 * unit - 1) * gust_strength;
}

double balance(const Posture& posture, double length, Profile profile) noexcept {
  const double natural = std::sqrt(gravity / length);
  const double wanted = natural * (profile == Profile::brisk ? 2.0 : 1.4);
  const double damping = 0.9;
  const double force =
      length * ((natural * natural + wanted * wanted) * posture.angle + 2 * damping * wanted * posture.rate);
  return std::clamp(force, -strongest_force, strongest_force);
}

}  // namespace corelane::pendulum
