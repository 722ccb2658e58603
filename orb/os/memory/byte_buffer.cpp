#include "orb/os/memory/byte_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>

#include "orb/base/copy.h"
#include "orb/base/sanitizer.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::os {
namespace {

std::size_t whole_pages(std::size_t bytes) noexcept {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// With mlockall(), accessible pages are loaded into memory at once. So these pages stay inaccessible until they are
// unlocked.
MutableBytes map_pages(std::size_t bytes) noexcept {
  void* const made = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return {};
  (void)munlock(made, bytes);
  if (mprotect(made, bytes, PROT_READ | PROT_WRITE) == 0) return {static_cast<std::byte*>(made), bytes};
  munmap(made, bytes);
  return {};
}

// Keeps a few unused mappings for the next caller. Bound: the number of places.
class KeptPages {
 public:
  MutableBytes take(std::size_t bytes) noexcept {
    const LockGuard lock(mutex_);
    MutableBytes* best = nullptr;
    for (MutableBytes& each : places_)
      if (each.size() >= bytes && each.size() / 2 <= bytes && (best == nullptr || each.size() < best->size()))
        best = &each;
    if (best == nullptr) return {};
    sum_ -= best->size();
    return std::exchange(*best, MutableBytes{});
  }
  bool keep(MutableBytes pages) noexcept {
    const LockGuard lock(mutex_);
    const auto free = std::find_if(places_.begin(), places_.end(), [](const auto& place) { return place.empty(); });
    if (free == places_.end() || pages.size() > most_kept_pages - sum_) return false;
    sum_ += pages.size();
    *free = pages;
    return true;
  }

 private:
  PiMutex mutex_;
  std::array<MutableBytes, 8> places_ CORELANE_GUARDED_BY(mutex_);
  std::size_t sum_ CORELANE_GUARDED_BY(mutex_) = 0;
};

KeptPages& kept_pages() noexcept {
  // Never destroyed, because buffers may outlive static objects. Constructed in place, because there may be no memory
  // for an allocation.
  alignas(KeptPages) static std::byte place[sizeof(KeptPages)];
  static KeptPages& kept = *new (place) KeptPages;
  return kept;
}

}  // namespace

MutableBytes take_pages(std::size_t bytes) noexcept {
  const std::size_t wanted = whole_pages(bytes);
  const MutableBytes kept = kept_pages().take(wanted);
  return kept.empty() ? map_pages(wanted) : kept;
}

[[gnu::hot]] void give_pages(MutableBytes pages) noexcept {
  if (!pages.empty() && !kept_pages().keep(pages)) munmap(pages.data(), pages.size());
}

void ByteBuffer::reserve(std::size_t bytes) {
  if (bytes <= capacity_ || (is_mapped() && grow_in_place(bytes))) return;
  const MutableBytes larger =
      bytes < mapped_from ? MutableBytes{static_cast<std::byte*>(::operator new(bytes)), bytes} : take_pages(bytes);
  if (larger.empty()) throw std::bad_alloc();
  const std::size_t size = size_;
  copy_bytes(larger.data(), data_, size);
  release();
  data_ = larger.data();
  size_ = size;
  capacity_ = larger.size();
}

// Moves the mapping to a larger range of addresses where necessary; copies no bytes. Not under the thread sanitizer: it
// does not see that mremap() frees addresses, and reports a race when another thread is given them.
bool ByteBuffer::grow_in_place(std::size_t bytes) noexcept {
  if constexpr (CORELANE_THREAD_SANITIZER != 0) return false;
  void* const moved = mremap(data_, capacity_, whole_pages(bytes), MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(moved);
  capacity_ = whole_pages(bytes);
  return true;
}

[[gnu::hot]] void ByteBuffer::append(Bytes bytes) {
  if (bytes.size() > capacity_ - size_) reserve(std::max(size_ + bytes.size(), 2 * capacity_));
  if (bytes.data() != data_ + size_) copy_bytes(data_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

void ByteBuffer::release() noexcept {
  is_mapped() ? give_pages({data_, capacity_}) : ::operator delete(data_);
  data_ = nullptr;
  size_ = capacity_ = 0;
}

}  // namespace corelane::os
