// Recent keeps the newest values, up to a fixed number. All memory is allocated and written to at the start, so add()
// causes no page fault.
//
// Threads: owned by one thread at a time. T's moves do not throw.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace corelane::dispatch {

template <typename T>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most), values_(most) { values_.clear(); }

  void add(T value) noexcept {
    if (values_.size() < most_)
      values_.push_back(std::move(value));
    else
      values_[oldest_++ % most_] = std::move(value);
  }
  bool contains(const T& value) const noexcept { return std::ranges::find(values_, value) != values_.end(); }
  // Calls see(value) for each value, the oldest first.
  template <typename See>
  void for_each(See see) const {
    for (std::size_t i = 0; i < values_.size(); ++i) see(values_[(oldest_ + i) % values_.size()]);
  }
  std::size_t most() const noexcept { return most_; }

 private:
  const std::size_t most_;
  std::vector<T> values_;
  std::size_t oldest_ = 0;
};

}  // namespace corelane::dispatch
