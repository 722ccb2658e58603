// Memory that two processes share: made, sealed and handed over as a descriptor; or taken from a peer and checked.
//
// Threads: any but real-time ones (system calls, page faults). Nothing has a name in a file system: what a killed
// process leaves behind goes with its last descriptor and mapping.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "orb/base/expected.h"
#include "orb/channel/fault.h"
#include "orb/os/fd.h"

namespace corelane::channel {

// A mapping; unmapped in the destructor, which any thread may call: what is large is unmapped elsewhere, by and by.
// Children of fork() do not have it.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* base, std::size_t size) noexcept : base_(static_cast<std::byte*>(base)), size_(size) {}
  Mapping(Mapping&& other) noexcept : base_(std::exchange(other.base_, nullptr)), size_(other.size_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping();

  std::byte* at(std::size_t offset) const noexcept { return base_ + offset; }
  std::size_t size() const noexcept { return size_; }
  // Keeps it in memory; false when the system does not let it (ulimit -l).
  bool lock() const noexcept;
  // Moves it into huge pages, as far as it fills some. Takes milliseconds for each MiB. False when the system has none,
  // and then nothing has changed.
  bool use_huge_pages() const noexcept;

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
};

// Who may map it writable once it is sealed.
enum class Writers : unsigned char { maker_alone, both_ends };

struct MadeMemory {
  os::Fd fd;  // for the peer
  Mapping mapping;
};

// Whether the host lets shared memory have huge pages for the asking: by the text of
// /sys/kernel/mm/transparent_hugepage/shmem_enabled.
bool allows_huge_pages(std::string_view shmem_enabled) noexcept;

// Zeros, allocated, writable here, of that very size for ever; in huge pages where the host allows them.
Expected<MadeMemory, SetupFault> make_memory(std::size_t size, Writers writers);

// The peer's, mapped read-only for Writers::maker_alone. bad_peer unless it is allocated, of that size, and sealed so
// that neither can change: what it holds may change at any time, but reading it never fails.
Expected<Mapping, SetupFault> adopt_memory(const os::Fd& fd, std::size_t size, Writers writers);

}  // namespace corelane::channel
