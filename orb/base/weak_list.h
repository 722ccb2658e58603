// WeakList remembers objects that others own, without a growing rest of objects that have ended.
//
// Threads: one at a time; the owner locks.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace corelane {

template <typename T>
class WeakList {
 public:
  // Adds an object. Before that, looks whether two earlier ones have ended, in turn, and forgets those. So a call takes
  // a constant time, and the list has at most about twice as many entries as objects lived at one time.
  void add(const std::shared_ptr<T>& object) {
    for (int looks = 0; looks < 2 && !objects_.empty(); ++looks) look();
    objects_.push_back(object);
  }

  // Returns the objects that live.
  std::vector<std::shared_ptr<T>> living() const {
    std::vector<std::shared_ptr<T>> result;
    for (const auto& weak : objects_)
      if (auto object = weak.lock()) result.push_back(std::move(object));
    return result;
  }

  std::size_t entries() const noexcept { return objects_.size(); }

 private:
  void look() noexcept {
    if (next_ >= objects_.size()) next_ = 0;
    if (!objects_[next_].expired()) {
      ++next_;
      return;
    }
    std::swap(objects_[next_], objects_.back());
    objects_.pop_back();
  }

  std::vector<std::weak_ptr<T>> objects_;
  std::size_t next_ = 0;  // the entry to look at next
};

}  // namespace corelane
