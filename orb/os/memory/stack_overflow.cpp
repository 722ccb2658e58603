#include "orb/os/memory/stack_overflow.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "orb/os/process/broken_pipe_guard.h"

namespace corelane::os {
namespace {

// Owner: the thread; its signal handler reads it.
thread_local const StackOverflowReport* mine = nullptr;

struct sigaction& handler_before() noexcept {
  static struct sigaction before {};
  return before;
}

// Does what would happen without this handler. A fault repeats when the handler returns; a signal that was sent does
// not, so it is raised again.
void hand_on(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction& before = handler_before();
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  const bool was_sent = info->si_code <= 0;
  if (before.sa_handler == SIG_IGN && was_sent) return;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  sigaction(signal, &before, nullptr);
  if (was_sent) raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) noexcept {
  const int reason = errno;
  if (mine != nullptr && info->si_code > 0 && mine->covers(info->si_addr)) mine->say();
  errno = reason;
  hand_on(signal, info, context);
}

void install() noexcept {
  static const bool installed = [] {
    if (sigaction(SIGSEGV, nullptr, &handler_before()) != 0) return false;
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    return sigaction(SIGSEGV, &ours, nullptr) == 0;
  }();
  (void)installed;
}

// Line builds a text without allocating memory.
class Line {
 public:
  Line& add(std::string_view text) noexcept {
    const std::size_t taken = std::min(text.size(), text_.size() - size_);
    std::copy_n(text.begin(), taken, text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += taken;
    return *this;
  }
  Line& add(std::size_t number) noexcept {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 256> text_{};
  std::size_t size_ = 0;
};

}  // namespace

StackOverflowReport::StackOverflowReport(const ThreadStack& stack, std::string_view setting) noexcept
    : guard_begin_(stack.guard().data()),
      guard_end_(stack.guard().data() + stack.guard().size()),
      size_(stack.usable().size()),
      setting_(setting) {
  if (!reports_stack_overflow || setting.empty()) return;
  const stack_t own{.ss_sp = stack.signal_stack().data(), .ss_flags = 0, .ss_size = stack.signal_stack().size()};
  if (sigaltstack(&own, nullptr) != 0) return;
  mine = this;
  install();
}

StackOverflowReport::~StackOverflowReport() {
  if (mine != this) return;
  mine = nullptr;
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
}

void StackOverflowReport::say() const noexcept {
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  Line line;
  line.add("corelane: the stack of thread ").add(std::string_view(name.data())).add(" (");
  line.add(size_ / 1024).add(" KiB) overflowed: let the servant put less on it, or set ").add(setting_);
  line.add(" to more bytes\n");
  const BrokenPipeGuard to_nobody;
  (void)!write(STDERR_FILENO, line.text().data(), line.text().size());
}

}  // namespace corelane::os
