// Book records which calls a server ran, in memory that outlives the server. So a caller that got no answer can tell
// whether its call ran.
//
// Threads: any, of two processes. One caller at a time.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "orb/os/fd.h"

namespace corelane::testing {

class Book {
 public:
  // Opens the file, or creates it.
  explicit Book(const std::string& path) {
    const os::Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file || ftruncate(file.get(), sizeof(Page)) != 0) throw std::runtime_error("no book at " + path);
    void* const memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory for a book");
    page_ = static_cast<Page*>(memory);
  }
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;
  ~Book() { munmap(page_, sizeof(Page)); }

  // Calls have rising numbers. relaxed: a reader has waited for the writer's end, or for its reply
  void begin(std::uint64_t call) noexcept {
    if (word(page_->begun).exchange(call, std::memory_order_relaxed) >= call)
      word(page_->repeated).fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t begun() const noexcept { return word(page_->begun).load(std::memory_order_relaxed); }
  // Returns how many calls ran a second time.
  std::uint64_t repeated() const noexcept { return word(page_->repeated).load(std::memory_order_relaxed); }

 private:
  struct Page {
    std::uint64_t begun, repeated;
  };
  static std::atomic_ref<std::uint64_t> word(std::uint64_t& number) noexcept {
    return std::atomic_ref<std::uint64_t>(number);
  }
  Page* page_;
};

}  // namespace corelane::testing
