// An inverted pendulum on a pivot that can be accelerated sideways, and the control law that balances it. Pure
// functions of time steps and states: no clock, no thread.
#pragma once

#include <cstdint>

#include "orb/base/time.h"

namespace corelane::pendulum {

struct Posture {
  double angle = 0;  // rad from upright, positive to the right
  double rate = 0;   // rad/s
};

// Angle beyond which the pendulum counts as fallen, in rad; nothing brings it back.
inline constexpr double fallen_angle = 0.6;

class Plant {
 public:
  // length: of a massless rod with a point mass, in m, above 0. seed: for the random gusts that disturb the pendulum.
  Plant(double length, std::uint64_t seed);

  // Lets `span` pass while the pivot accelerates with `force` m/s^2. A fallen pendulum stays down.
  void advance(Duration span, double force) noexcept;

  const Posture& posture() const noexcept { return posture_; }
  double length() const noexcept { return length_; }
  bool stands() const noexcept { return stands_; }
  double worst_angle() const noexcept { return worst_angle_; }

 private:
  void step(double seconds, double force) noexcept;
  double gust() noexcept;

  double length_;
  std::uint64_t random_;
  Posture posture_;
  double push_ = 0;  // the current gust, rad/s^2
  double until_gust_ = 0;
  double worst_angle_ = 0;
  bool stands_ = true;
};

// How strongly the controller corrects.
enum class Profile { calm, brisk };

// State feedback that places both poles of the linearized pendulum at a multiple of its natural frequency. Returns the
// pivot's acceleration in m/s^2, limited to what the drive can do.
double balance(const Posture& posture, double length, Profile profile) noexcept;

}  // namespace corelane::pendulum
