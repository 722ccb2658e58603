// MadeMemory and Mapping are memory that two processes share. One process makes it, seals it and passes it to the other
// as a descriptor. The other process checks it and maps it.
//
// Memory is either whole or growing. Whole memory is allocated when it is made, and stays allocated. Of growing memory,
// only the first bytes are always allocated. Its maker allocates the rest part by part, and frees parts that neither
// end reads. Growing memory is only for two ends of one user, because a process that reads a part without memory makes
// the kernel allocate memory for it.
//
// Threads: any but real-time ones (system calls, page faults). The memory has no name in a file system. So the kernel
// frees the memory of a killed process when its last descriptor and mapping are gone.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "orb/base/expected.h"
#include "orb/channel/fault.h"
#include "orb/os/fd.h"

namespace corelane::channel {

// A mapping of memory. Any thread may call the destructor, which unmaps it. Large mappings are unmapped on another
// thread, piece by piece. Children of fork() do not have the mapping.
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
  // Keeps the mapping in memory. Returns false if the system does not allow that (ulimit -l).
  bool lock() const noexcept;
  // Moves the mapping into huge pages, as far as it fills some. Takes milliseconds for each MiB. Returns false if the
  // system has none; then nothing has changed.
  bool use_huge_pages() const noexcept;
  // Takes memory for a part of growing memory that this process made, and maps it, so that a store there never faults.
  // Returns false if the system has none. Takes about a millisecond for each 4 MiB.
  bool take(std::size_t offset, std::size_t size) const noexcept;
  // Gives the memory of such a part back to the system. The part then holds zeros. Returns false if the system refuses.
  bool give_back(std::size_t offset, std::size_t size) const noexcept;
  // Maps all pages for reading, as far as the system allows it, so that a load does not fault.
  void map_pages() const noexcept;

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
};

// Which ends may map the memory writable once it is sealed.
enum class Writers : unsigned char { maker_alone, both_ends };

struct MadeMemory {
  os::Fd fd;  // for the peer
  Mapping mapping;
};

// Returns whether the host gives shared memory huge pages on request. `shmem_enabled` is the text of
// /sys/kernel/mm/transparent_hugepage/shmem_enabled.
bool allows_huge_pages(std::string_view shmem_enabled) noexcept;

// Returns allows_huge_pages() for this host. The first call reads the file, and later calls return the same.
bool host_allows_huge_pages();
// Returns whether this kernel can take memory for a mapping and report a shortage (Linux 5.14).
bool can_grow() noexcept;

// Makes memory of zeros: allocated, writable here, and of a size that never changes. Uses huge pages if the host allows
// them.
Expected<MadeMemory, SetupFault> make_memory(std::size_t size, Writers writers);
// Makes memory of zeros that is writable here and of a size that never changes. The first `kept` bytes are allocated
// for good; take() and give_back() apply to the rest. Requires can_grow(). It is not sealed against other writers.
Expected<MadeMemory, SetupFault> make_growing_memory(std::size_t size, std::size_t kept);

// Maps the peer's memory, read-only for Writers::maker_alone. Fails with bad_peer if the memory is not all allocated,
// has another size, or lacks the seals that make_memory() sets for `writers`. The content may change at any time, but
// reading it never fails.
Expected<Mapping, SetupFault> adopt_memory(const os::Fd& fd, std::size_t size, Writers writers);
// Maps growing memory of a peer that has this process's user. Allocates nothing beyond the first `kept` bytes. The
// caller reads only the parts that the peer says are allocated.
Expected<Mapping, SetupFault> adopt_growing_memory(const os::Fd& fd, std::size_t size, std::size_t kept);

}  // namespace corelane::channel
