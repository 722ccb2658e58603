// GrowthMeter counts the memory of a region that grows, and may refuse more of it.
// Thread: the writer's.
#pragma once

#include <cstddef>

namespace corelane::channel {

class GrowthMeter {
 public:
  // Called before so many bytes are taken. Returns false to refuse them. `is_promised`: take_some() was called. Then
  // the bytes count, and are taken whatever this returns.
  virtual bool take(std::size_t bytes, bool is_promised) noexcept = 0;
  // Called when so many bytes were given back, or could not be taken.
  virtual void give_back(std::size_t bytes) noexcept = 0;

 protected:
  ~GrowthMeter() = default;
};

}  // namespace corelane::channel
