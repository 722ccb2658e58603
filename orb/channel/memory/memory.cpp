#include "orb/channel/memory/memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "orb/os/files/file_room.h"
#include "orb/os/threads/closer.h"

// The C library's headers may be too old to define these.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace corelane::channel {
namespace {

constexpr std::size_t huge_page = 2 << 20;  // smaller memory fills no huge page

// These apply to growing memory, too. With F_SEAL_FUTURE_WRITE the kernel would give back no memory of the file.
constexpr int seals_of_size = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

constexpr int seals_for(Writers writers) noexcept {
  return writers == Writers::maker_alone ? seals_of_size | F_SEAL_FUTURE_WRITE : seals_of_size;
}

int memfd(unsigned flags) noexcept {
  return static_cast<int>(syscall(SYS_memfd_create, "corelane-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
}

os::Fd make_descriptor() noexcept {
  os::Fd fd(memfd(MFD_NOEXEC_SEAL));  // Linux 6.3 and later, which may be configured to refuse others
  if (!fd && errno == EINVAL) fd.reset(memfd(0));
  return fd;
}

SetupFault no_room(std::size_t size) {
  const int number = errno;
  return system_fault("no memory for a channel of " + std::to_string(size) + " bytes", number,
                      number == EFBIG ? "raise the limit of file sizes (ulimit -f)"
                                      : "take fewer slots or chunks, or raise the memory limit of the control group");
}

// Returns an address for so many bytes, at the start of a huge page if they can fill one; otherwise null, which means
// any address.
void* place_for(std::size_t size) noexcept {
  if (size < huge_page) return nullptr;
  // This is only a hint. If another thread takes that place meanwhile, the kernel finds another one.
  const std::size_t wide = size + huge_page;
  void* const found = mmap(nullptr, wide, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  munmap(found, wide);
  return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(found) + huge_page - 1) & ~(huge_page - 1));
}

std::optional<Mapping> map(const os::Fd& fd, std::size_t size, int protection) noexcept {
  void* base = mmap(place_for(size), size, protection, MAP_SHARED | MAP_POPULATE, fd.get(), 0);
  if (base == MAP_FAILED) return std::nullopt;
  madvise(base, size, MADV_DONTFORK);
  return Mapping(base, size);
}

// Maps growing memory and takes pages for the first `kept` bytes alone. In a process that locks its memory (mlockall),
// the kernel would take pages for a whole new mapping. It does not while the mapping permits no access.
std::optional<Mapping> map_growing(const os::Fd& fd, std::size_t size, std::size_t kept, int protection) noexcept {
  void* base = mmap(place_for(size), size, PROT_NONE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return std::nullopt;
  Mapping made(base, size);
  munlock(made.at(kept), size - kept);
  if (mprotect(base, size, protection) != 0) return std::nullopt;
  madvise(base, size, MADV_DONTFORK);
  madvise(base, kept, MADV_POPULATE_READ);
  return made;
}

// Seals memory that is mapped: from now on neither its size nor the set of its writers changes.
Expected<void, SetupFault> seal(const os::Fd& fd, int seals) {
  if (fcntl(fd.get(), F_ADD_SEALS, seals) == 0) return {};
  return system_fault("F_SEAL_FUTURE_WRITE", errno, "channels need it (Linux 5.1): use a socket instead here");
}

SetupFault bad_memory(std::string_view what) {
  return {SetupFault::Kind::bad_peer, "the peer's memory " + std::string(what) + "; its program is at fault"};
}

// Returns whether this is more than half of the machine's memory. For so much, the kernel would kill other processes
// before it reports a shortage.
bool is_beyond_machine(std::size_t size) noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 && size / static_cast<std::size_t>(page) > static_cast<std::size_t>(pages) / 2;
}

// Checks that what a peer passed has at least those seals, and that size. Returns its allocated bytes.
Expected<std::size_t, SetupFault> check_memory(const os::Fd& fd, std::size_t size, int needed) {
  // The seals come first. Only a memfd has them, so the check asks no file system of the peer, which might never
  // answer.
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  struct statfs system {};
  if (seals < 0 || fstatfs(fd.get(), &system) != 0 || system.f_type != TMPFS_MAGIC) return bad_memory("is not a memfd");
  if ((seals & needed) != needed)
    return bad_memory("is not sealed against changes of its size and against other writers");
  struct stat file {};
  if (fstat(fd.get(), &file) != 0 || file.st_size < 0 || static_cast<std::size_t>(file.st_size) != size)
    return bad_memory("does not have the size that it announced");
  return static_cast<std::size_t>(file.st_blocks) * 512;
}

Expected<Mapping, SetupFault> mapped(std::optional<Mapping> mapping, std::size_t size) {
  if (mapping) return std::move(*mapping);
  if (errno == EACCES || errno == EPERM) return bad_memory("may not be mapped as a channel needs it");
  return no_room(size);
}

}  // namespace

Mapping::~Mapping() {
  if (base_ != nullptr) os::unmap(base_, size_);
}

bool Mapping::lock() const noexcept { return mlock(base_, size_) == 0; }

// Works at once, on this thread (Linux 6.1). MADV_HUGEPAGE would let a kernel thread do it some time later. A thread
// that touches the memory then, perhaps a real-time one, would wait.
bool Mapping::use_huge_pages() const noexcept { return madvise(base_, size_, MADV_COLLAPSE) == 0; }

bool Mapping::take(std::size_t offset, std::size_t size) const noexcept {
  return madvise(at(offset), size, MADV_POPULATE_WRITE) == 0;
}

// The kernel refuses to give back locked memory. The memory is locked if mlockall() was called after it was mapped.
bool Mapping::give_back(std::size_t offset, std::size_t size) const noexcept {
  munlock(at(offset), size);
  return madvise(at(offset), size, MADV_REMOVE) == 0;
}

void Mapping::map_pages() const noexcept { madvise(base_, size_, MADV_POPULATE_READ); }

// The chosen value stands in brackets. MADV_COLLAPSE itself does not check it.
bool allows_huge_pages(std::string_view shmem_enabled) noexcept {
  for (const std::string_view allowed : {"[always]", "[within_size]", "[advise]", "[force]"})
    if (shmem_enabled.find(allowed) != shmem_enabled.npos) return true;
  return false;
}

bool host_allows_huge_pages() {
  static const bool allows = [] {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    std::string text;
    std::getline(file, text);
    return allows_huge_pages(text);
  }();
  return allows;
}

// The kernel refuses an unknown advice even for a size of 0.
bool can_grow() noexcept {
  static const bool can = madvise(nullptr, 0, MADV_POPULATE_WRITE) == 0;
  return can;
}

Expected<MadeMemory, SetupFault> make_growing_memory(std::size_t size, std::size_t kept) {
  if (is_beyond_machine(size)) return errno = ENOMEM, no_room(size);
  MadeMemory made{make_descriptor(), {}};
  if (!made.fd) return no_descriptor("memfd_create", errno);
  if (ftruncate(made.fd.get(), static_cast<off_t>(size)) != 0) return no_room(size);
  if (!os::take_room(made.fd, 0, static_cast<off_t>(kept))) return no_room(kept);
  auto mapping = map_growing(made.fd, size, kept, PROT_READ | PROT_WRITE);
  if (!mapping) return no_room(size);
  made.mapping = std::move(*mapping);
  if (const auto sealed = seal(made.fd, seals_of_size); !sealed) return sealed.error();
  return made;
}

Expected<MadeMemory, SetupFault> make_memory(std::size_t size, Writers writers) {
  if (is_beyond_machine(size)) return errno = ENOMEM, no_room(size);
  MadeMemory made{make_descriptor(), {}};
  if (!made.fd) return no_descriptor("memfd_create", errno);
  const auto length = static_cast<off_t>(size);
  // The memory is allocated before it is mapped. So a shortage is an error here, or kills the process in a full control
  // group. It never becomes a SIGBUS later.
  if (!os::take_room(made.fd, 0, length)) return no_room(size);
  auto mapping = map(made.fd, size, PROT_READ | PROT_WRITE);
  if (!mapping) return no_room(size);
  made.mapping = std::move(*mapping);
  if (size >= huge_page && host_allows_huge_pages()) made.mapping.use_huge_pages();
  if (const auto sealed = seal(made.fd, seals_for(writers)); !sealed) return sealed.error();
  return made;
}

Expected<Mapping, SetupFault> adopt_memory(const os::Fd& fd, std::size_t size, Writers writers) {
  const auto allocated = check_memory(fd, size, seals_for(writers));
  if (!allocated) return allocated.error();
  if (*allocated < size) return bad_memory("is not allocated");
  return mapped(map(fd, size, writers == Writers::maker_alone ? PROT_READ : PROT_READ | PROT_WRITE), size);
}

Expected<Mapping, SetupFault> adopt_growing_memory(const os::Fd& fd, std::size_t size, std::size_t kept) {
  const auto allocated = check_memory(fd, size, seals_of_size);
  if (!allocated) return allocated.error();
  if (*allocated < kept) return bad_memory("is not allocated");
  return mapped(*allocated < size ? map_growing(fd, size, kept, PROT_READ) : map(fd, size, PROT_READ), size);
}

}  // namespace corelane::channel
