// GrowthMeter: counts the memory of a region that grows, and may refuse more of it. Thread: the writer's.
#pragma once

#include <cstddef>

namespace corelane::channel {

class GrowthMeter {
 public:
  // Before so many bytes are taken; false: they may not be. `is_promised`: take_some() was called; they count, and are
  // taken whatever this returns.
  virtual bool take(std::size_t bytes, bool is_promised) noexcept = 0;
  // So many bytes were given back, or could not be taken.
  virtual void give_back(std::size_t bytes) noexcept = 0;

 protected:
  ~GrowthMeter() = default;
};

}  // namespace corelane::channel
