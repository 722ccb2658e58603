#include "services/corelane/scale/bound_processes.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "orb/os/clock.h"
#include "orb/os/thread.h"

namespace corelane::tool {
namespace {

constexpr std::chrono::milliseconds between_checks{1};

// What one process tells its parent, in memory that both share.
struct alignas(128) ProcessReport {
  std::atomic<bool> is_ready{false};
  std::uint64_t units = 0;
  Duration time{};
  Duration kernel_time{};
  std::array<char, 256> fault{};
};

// What the parent tells its processes.
struct alignas(128) StartSignal {
  std::atomic<bool> begin{false};
  std::atomic<bool> over{false};
};

// Board is the shared memory.
class Board {
 public:
  explicit Board(std::size_t processes) : size_(sizeof(StartSignal) + processes * sizeof(ProcessReport)) {
    void* const base = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of shared memory");
    signal_ = new (base) StartSignal;
    reports_ = new (static_cast<std::byte*>(base) + sizeof(StartSignal)) ProcessReport[processes];
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board() { munmap(signal_, size_); }

  StartSignal& signal() { return *signal_; }
  ProcessReport& report(std::size_t process) { return reports_[process]; }

 private:
  const std::size_t size_;
  StartSignal* signal_ = nullptr;
  ProcessReport* reports_ = nullptr;
};

Duration kernel_time_of(int whose) {
  rusage used{};
  getrusage(whose, &used);
  return std::chrono::seconds{used.ru_stime.tv_sec} + std::chrono::microseconds{used.ru_stime.tv_usec};
}
Duration kernel_time() { return kernel_time_of(RUSAGE_SELF) + kernel_time_of(RUSAGE_CHILDREN); }

// ---- In the processes ----

void repeat(const UnitOfWork& unit, StartSignal& signal, ProcessReport& report) {
  // The parent reads a report after the process has ended. So no order matters here.
  report.is_ready.store(true, std::memory_order_relaxed);                           // relaxed: see above
  while (!signal.begin.load(std::memory_order_relaxed)) std::this_thread::yield();  // relaxed: see above
  const Duration kernel_before = kernel_time();
  const Time begin = os::now();
  std::uint64_t units = 0;
  do {
    unit();
    ++units;
  } while (!signal.over.load(std::memory_order_relaxed));  // relaxed: see above
  report.time = os::now() - begin;
  report.kernel_time = kernel_time() - kernel_before;
  report.units = units;
}

void write_fault(ProcessReport& report, const char* text) {
  std::snprintf(report.fault.data(), report.fault.size(), "%s", text);
}

[[noreturn]] void run_process(CoreId core, pid_t parent, const std::function<UnitOfWork()>& prepare,
                              StartSignal& signal, ProcessReport& report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it has ended already
  try {
    if (!os::bind_this_thread(core)) throw std::runtime_error("the system does not let it run there");
    repeat(prepare(), signal, report);
    _exit(0);
  } catch (const std::exception& error) {
    write_fault(report, error.what());
  }
  _exit(1);
}

// ---- In the parent ----

// BoundProcess is a child. Its destructor kills it.
class BoundProcess {
 public:
  BoundProcess(CoreId core, pid_t pid) : core_(core), pid_(pid) {}
  BoundProcess(BoundProcess&& other) noexcept : core_(other.core_), pid_(std::exchange(other.pid_, -1)) {}
  BoundProcess& operator=(BoundProcess&&) = delete;
  ~BoundProcess() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    (void)status(0);
  }

  CoreId core() const { return core_; }
  // Returns the status if the process has ended; waits for that unless `options` has WNOHANG.
  std::optional<int> status(int options) {
    int state = 0;
    pid_t ended = 0;
    do ended = waitpid(pid_, &state, options);
    while (ended < 0 && errno == EINTR);
    if (ended == 0) return std::nullopt;
    pid_ = -1;
    return ended < 0 ? -1 : state;
  }

 private:
  CoreId core_;
  pid_t pid_;
};

std::string fault_of(const BoundProcess& process, int status, const ProcessReport& report) {
  const std::string which = "the process on core " + std::to_string(process.core().value) + " failed: ";
  if (report.fault.front() != '\0') return which + report.fault.data();
  return which + (WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status)) : "it ended too early");
}

std::vector<BoundProcess> start(std::span<const CoreId> cores, const std::function<UnitOfWork()>& prepare,
                                Board& board) {
  const pid_t self = getpid();
  std::vector<BoundProcess> processes;
  processes.reserve(cores.size());
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) run_process(cores[i], self, prepare, board.signal(), board.report(i));
    processes.emplace_back(cores[i], pid);
  }
  return processes;
}

// Waits until each process is ready. Returns a fault if one has ended; "" otherwise.
std::string await_ready(std::vector<BoundProcess>& processes, Board& board) {
  for (std::size_t i = 0; i < processes.size(); ++i)
    while (!board.report(i).is_ready.load(std::memory_order_relaxed)) {  // relaxed: see repeat()
      if (const auto status = processes[i].status(WNOHANG)) return fault_of(processes[i], *status, board.report(i));
      std::this_thread::sleep_for(between_checks);
    }
  return "";
}

Expected<BoundRun, std::string> sum_of(std::vector<BoundProcess>& processes, Board& board) {
  BoundRun run;
  double kernel_ns = 0, units = 0;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const ProcessReport& report = board.report(i);
    const int status = processes[i].status(0).value_or(-1);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fault_of(processes[i], status, report);
    run.throughput += static_cast<double>(report.units) / std::chrono::duration<double>(report.time).count();
    kernel_ns += static_cast<double>(report.kernel_time.count());
    units += static_cast<double>(report.units);
  }
  run.kernel_ns = kernel_ns / units;
  return run;
}

}  // namespace

Expected<BoundRun, std::string> run_bound(std::span<const CoreId> cores, Duration time,
                                          const std::function<UnitOfWork()>& prepare) {
  try {
    Board board(cores.size());
    std::vector<BoundProcess> processes = start(cores, prepare, board);
    if (std::string fault = await_ready(processes, board); !fault.empty()) return fault;
    board.signal().begin.store(true, std::memory_order_relaxed);  // relaxed: see repeat()
    std::this_thread::sleep_for(time);
    board.signal().over.store(true, std::memory_order_relaxed);  // relaxed: see repeat()
    return sum_of(processes, board);
  } catch (const std::system_error& error) {
    return std::string("a process could not be started: ") + error.what();
  }
}

}  // namespace corelane::tool
