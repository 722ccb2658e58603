// Memory that two processes share: made, sealed and handed over as a descriptor; or taken from a peer and checked.
//
// Memory either is whole: all of it is taken from the system when it is made, and stays. Or it grows: only its
// beginning is there for good; its maker takes the rest part by part and gives parts back that neither end reads.
// Growing memory is for two ends of one user, because a process that reads a part that is not there makes the kernel
// take memory for it.
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
  // Takes memory for a part of growing memory that this process made, and maps it, so that a store there never faults.
  // False when the system has none. Takes about a millisecond for each 4 MiB.
  bool take(std::size_t offset, std::size_t size) const noexcept;
  // Gives the memory of such a part back to the system; it holds zeros from then on. False when the system refuses.
  bool give_back(std::size_t offset, std::size_t size) const noexcept;
  // Maps all pages for reading, as far as the system lets it, so that a load finds them without a fault.
  void map_pages() const noexcept;

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

// As allows_huge_pages() of this host, as it was at the first question.
bool host_allows_huge_pages();
// Whether this kernel can take memory for a mapping and report a shortage (Linux 5.14).
bool can_grow() noexcept;

// Zeros, allocated, writable here, of that very size for ever; in huge pages where the host allows them.
Expected<MadeMemory, SetupFault> make_memory(std::size_t size, Writers writers);
// Zeros, writable here, of that very size for ever. The first `kept` bytes are allocated for good, the rest as take()
// and give_back() say. Requires can_grow(). It is not sealed against other writers.
Expected<MadeMemory, SetupFault> make_growing_memory(std::size_t size, std::size_t kept);

// The peer's, mapped read-only for Writers::maker_alone. bad_peer unless it is allocated, of that size, and sealed so
// that neither can change: what it holds may change at any time, but reading it never fails.
Expected<Mapping, SetupFault> adopt_memory(const os::Fd& fd, std::size_t size, Writers writers);
// The same from a peer of this process's own user, whose memory may grow beyond the first `kept` bytes. Nothing is
// taken for the rest here: only what the peer says is there may be read.
Expected<Mapping, SetupFault> adopt_growing_memory(const os::Fd& fd, std::size_t size, std::size_t kept);

}  // namespace corelane::channel
