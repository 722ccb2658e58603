// KeptResult keeps a sequence that a servant returned until its reply has been sent. The reply then needs no copy of
// it. Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace corelane::core {

class KeptResult {
 public:
  KeptResult() = default;
  KeptResult(const KeptResult&) = delete;
  KeptResult& operator=(const KeptResult&) = delete;
  ~KeptResult() { release(); }

  // Takes over the elements, which stay where they lie.
  template <typename T>
  void keep(std::vector<T>& values) noexcept {
    static_assert(sizeof values <= sizeof room_);
    release();
    new (room_) std::vector<T>(std::move(values));
    destroy_ = [](void* kept) noexcept { std::destroy_at(static_cast<std::vector<T>*>(kept)); };
  }
  // Frees what is kept.
  [[gnu::always_inline]] void release() noexcept {
    if (destroy_ != nullptr) std::exchange(destroy_, nullptr)(room_);
  }

 private:
  void (*destroy_)(void* kept) noexcept = nullptr;               // null: nothing is kept
  alignas(std::max_align_t) std::byte room_[8 * sizeof(void*)];  // for a std::vector, also with debug iterators
};

}  // namespace corelane::core
