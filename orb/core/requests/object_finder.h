// ObjectFinder finds the objects that the requests of one connection name. Most connections call one object. It is
// found without a lock while it stays active. Thread: the one that reads the connection.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/core/objects/object_dispatch.h"

namespace corelane::core {

class ObjectFinder {
 public:
  explicit ObjectFinder(RequestTarget& target) noexcept : target_(target) {}

  // Returns the object, which this keeps until the next call.
  [[gnu::hot]] Expected<ActiveObject*> find(Bytes key) noexcept {
    const bool is_last =
        last_ && key.size() == last_key_size_ && std::memcmp(key.data(), last_key_.data(), last_key_size_) == 0;
    if (is_last && last_->active()) return last_.get();
    return find_anew(key);
  }

  // Copies the key of a request in memory that the peer may change. The key chooses the object, and then the check
  // whether a task is for that object. Returns the copy, which is valid until release_copy(). std::bad_alloc.
  Bytes copy(Bytes key) {
    copy_.assign(key.begin(), key.end());
    return copy_;
  }
  void release_copy() noexcept {
    if (copy_.capacity() > longest_kept_key) copy_ = std::vector<std::byte>();
  }

 private:
  Expected<ActiveObject*> find_anew(Bytes key) noexcept {
    auto found = target_.find(key);
    last_.reset();
    if (!found) return found.error();
    last_ = std::move(*found);
    last_key_size_ = key.size() <= last_key_.size() ? key.size() : not_cached;
    if (last_key_size_ != not_cached) std::copy(key.begin(), key.end(), last_key_.begin());
    return last_.get();
  }

  static constexpr std::size_t not_cached = std::size_t{0} - 1;
  static constexpr std::size_t longest_kept_key = 1024;  // the most that copy_ keeps allocated between requests

  RequestTarget& target_;
  std::shared_ptr<ActiveObject> last_;    // the object that was found last
  std::array<std::byte, 64> last_key_{};  // its key; longer keys are not cached
  std::size_t last_key_size_ = 0;
  std::vector<std::byte> copy_;
};

}  // namespace corelane::core
