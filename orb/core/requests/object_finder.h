// ObjectFinder finds the objects that the requests of one connection name. Most connections call one object. It is
// found without a lock while it stays active. Thread: the one that reads the connection.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/core/objects/object_dispatch.h"

namespace corelane::core {

class ObjectFinder {
 public:
  explicit ObjectFinder(RequestTarget& target) noexcept : target_(target) {}

  [[gnu::hot]] Expected<std::shared_ptr<ActiveObject>> find(Bytes key) noexcept {
    const bool is_last =
        last_ && key.size() == last_key_size_ && std::memcmp(key.data(), last_key_.data(), last_key_size_) == 0;
    if (is_last && last_->active()) return last_;
    auto found = target_.find(key);
    last_.reset();
    if (!found || key.size() > last_key_.size()) return found;
    std::copy(key.begin(), key.end(), last_key_.begin());
    last_key_size_ = key.size();
    last_ = *found;
    return found;
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
  static constexpr std::size_t longest_kept_key = 1024;  // the most that copy_ keeps allocated between requests

  RequestTarget& target_;
  std::shared_ptr<ActiveObject> last_;    // the object that last_key_ names
  std::array<std::byte, 64> last_key_{};  // longer keys are not cached
  std::size_t last_key_size_ = 0;
  std::vector<std::byte> copy_;
};

}  // namespace corelane::core
