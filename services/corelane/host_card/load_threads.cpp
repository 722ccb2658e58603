#include "services/corelane/host_card/load_threads.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "orb/base/minor.h"
#include "orb/rt/work.h"

namespace corelane::tool {
namespace {

constexpr Duration turn_of_work = std::chrono::milliseconds{1};
constexpr std::size_t mapped_bytes = 4 * 1024 * 1024, written_bytes = 256 * 1024;  // in each turn

// Returns a file without a name in the directory for temporary files; with errno, none.
os::Fd nameless_file() {
  std::error_code failure;
  const std::string directory = std::filesystem::temp_directory_path(failure).string();
  return os::Fd(::open(failure ? "/tmp" : directory.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
}

// Makes the kernel write to the disk, and wait for it.
void write_through(int file) {
  static const std::array<char, written_bytes> content{};
  if (::pwrite(file, content.data(), content.size(), 0) > 0) ::fdatasync(file);
}

// Keeps the core in the kernel: it maps, clears and unmaps memory.
void map_and_unmap() {
  void* const memory =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory != MAP_FAILED) ::munmap(memory, mapped_bytes);
}

}  // namespace

template <typename Turn>
void LoadThreads::repeat(CoreId core, Turn turn) {
  auto thread = os::start_thread({.name = "corelane-load", .core = core}, [this, turn] {
    while (!stop_.load(std::memory_order_relaxed)) turn();  // relaxed: only the flag matters; bound: the owner's life
  });
  if (thread)
    threads_.push_back(*std::move(thread));
  else
    fault_ = "no thread can be started: " + std::string(minor::text(thread.error()));
}

// Each load has the thread that looks for gaps, since that one is itself a load of computations.
LoadThreads::LoadThreads(eval::WakeLoad load, CoreId core, rt::GapLog& gaps) {
  if (load == eval::WakeLoad::idle) return;
  if (load == eval::WakeLoad::io) {
    file_ = nameless_file();
    if (!file_) fault_ = std::string("no temporary file can be written: ") + std::strerror(errno) + "; set TMPDIR";
    if (!file_) return;
    repeat(core, [file = file_.get()] { write_through(file); });
  }
  if (load == eval::WakeLoad::kernel) repeat(core, [] { map_and_unmap(); });
  repeat(core, [&gaps] { rt::work(turn_of_work, &gaps); });
}

LoadThreads::~LoadThreads() {
  stop_.store(true, std::memory_order_relaxed);  // relaxed: publishes nothing
  threads_.clear();                              // joins
}

}  // namespace corelane::tool
