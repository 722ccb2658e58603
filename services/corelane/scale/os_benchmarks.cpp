#include "services/corelane/scale/os_benchmarks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace corelane::tool {
namespace {

[[noreturn]] void refuse(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

void fork_once() {
  const pid_t child = fork();
  if (child < 0) refuse("fork");
  if (child == 0) _exit(0);
  while (waitpid(child, nullptr, 0) < 0)
    if (errno != EINTR) refuse("waitpid");
}

void map_once(int file, std::size_t size) {
  void* const base = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) refuse("mmap");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const volatile char* const bytes = static_cast<const volatile char*>(base);
  for (std::size_t at = 0; at < size; at += page) (void)bytes[at];
  munmap(base, size);
}

void make_socket_once() { os::made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"); }

void give_and_take_once(int semaphore) {
  std::uint64_t one = 1;
  if (write(semaphore, &one, sizeof one) != sizeof one) refuse("write to the semaphore");
  if (read(semaphore, &one, sizeof one) != sizeof one) refuse("read from the semaphore");
}

void duplicate_once(int descriptor) { os::made(dup(descriptor), "dup"); }

os::Fd temporary_file(std::size_t size) {
  std::string path = (std::filesystem::temp_directory_path() / "corelane-scale-XXXXXX").string();
  os::Fd file = os::made(mkostemp(path.data(), O_CLOEXEC), "mkostemp");
  unlink(path.c_str());
  if (ftruncate(file.get(), static_cast<off_t>(size)) != 0) refuse("ftruncate of the temporary file");
  return file;
}

}  // namespace

OsInputs::OsInputs(std::size_t file_size)
    : file_size_(file_size), semaphore_(os::made(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC), "eventfd")) {
  if (file_size == 0) return;
  file_ = temporary_file(file_size);
  map_once(file_.get(), file_size);
}

std::span<const OsBenchmark> os_benchmarks() {
  static constexpr OsBenchmark table[] = {
      {"fork", "a process is forked, ends and is waited for",
       [](const OsInputs&) -> UnitOfWork { return [] { fork_once(); }; }},
      {"mmap", "a file that all processes share is mapped, each of its pages is read, and it is unmapped",
       [](const OsInputs& inputs) -> UnitOfWork { return [&inputs] { map_once(inputs.file(), inputs.file_size()); }; },
       true},
      {"socket", "a TCP socket is made and closed",
       [](const OsInputs&) -> UnitOfWork { return [] { make_socket_once(); }; }},
      {"semaphore", "a semaphore of the kernel that all processes share is given and taken",
       [](const OsInputs& inputs) -> UnitOfWork {
         return [semaphore = inputs.semaphore()] { give_and_take_once(semaphore); };
       }},
      {"dup", "a descriptor of a file that all processes share is duplicated and closed",
       [](const OsInputs& inputs) -> UnitOfWork {
         return [semaphore = inputs.semaphore()] { duplicate_once(semaphore); };
       }},
  };
  return table;
}

}  // namespace corelane::tool
