// The lower bound of each dispatch mode. The 64 bytes of bare TCP pass the threads of the mode, with their policies,
// priorities and necessary system calls. Nothing else runs. The client is the one of bare TCP.
//
//   corelane-bench-hops direct     the task's thread polls the socket and an eventfd, reads with the kernel's time
//                                  stamp, answers, and asks for its processor time
//   corelane-bench-hops reader     a reader waits with epoll, reads, and wakes a thread under SCHED_OTHER, which then
//                                  answers
//   corelane-bench-hops one-hop    the same, but the thread that answers has a task's priority
//   corelane-bench-hops two-hops   the same as one-hop, with a manager's thread in between
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "bench/latency/load.h"
#include "bench/latency/loopback.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/os/wait/wait.h"

namespace {

namespace os = corelane::os;
using latency::Message;

constexpr int reader_level = 50, manager_level = 49, task_level = 48;  // the defaults of our server

int connection = -1;
Message message{};
os::Parker manager, task;

void answer() {
  if (!latency::send_all(connection, message)) std::exit(0);
}

bool read_stamped() {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control;
  iovec vector{message.data(), message.size()};
  msghdr header{};
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  return ::recvmsg(connection, &header, MSG_DONTWAIT) == static_cast<ssize_t>(message.size());
}

// Each of these functions ends the process when the client closes the connection.
void direct() {
  const int on = 1;
  if (::setsockopt(connection, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) < 0) latency::die("SO_TIMESTAMPNS");
  std::array<pollfd, 2> entries{{{connection, POLLIN, 0}, {::eventfd(0, EFD_CLOEXEC), POLLIN, 0}}};
  while (::ppoll(entries.data(), entries.size(), nullptr, nullptr) > 0 && read_stamped()) {
    answer();
    (void)os::thread_cpu_time();
  }
}

void read_and_wake(os::Parker& next) {
  const int readiness = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
  if (::epoll_ctl(readiness, EPOLL_CTL_ADD, connection, &event) < 0) latency::die("epoll_ctl");
  for (;;) {
    if (::epoll_wait(readiness, &event, 1, -1) < 0) latency::die("epoll_wait");
    if (!latency::receive_all(connection, message, MSG_DONTWAIT)) std::exit(0);
    next.unpark();
  }
}

[[noreturn]] void answer_when_woken() {
  for (;;) {
    task.park(corelane::never);
    answer();
    (void)os::thread_cpu_time();
  }
}

[[noreturn]] void pass_on() {
  for (;;) {
    manager.park(corelane::never);
    task.unpark();
  }
}

os::Thread start(int level, void (*function)()) {
  auto thread = os::start_thread({.name = "hop", .fifo_priority = level}, function);
  if (!thread) latency::die("thread");
  if (level > 0 && !thread->real_time()) std::fprintf(stderr, "hops: SCHED_FIFO is not granted\n"), std::exit(1);
  return std::move(*thread);
}

int serve(std::string_view shape) {
  const int listener = latency::new_socket();
  latency::announce(std::to_string(latency::listen_on(listener)));
  connection = latency::accept_one(listener);
  std::vector<os::Thread> threads;
  if (shape == "direct") {
    threads.push_back(start(task_level, direct));
  } else {
    threads.push_back(start(shape == "reader" ? 0 : task_level, answer_when_woken));
    if (shape == "two-hops") threads.push_back(start(manager_level, pass_on));
    threads.push_back(start(
        reader_level, shape == "two-hops" ? +[] { read_and_wake(manager); } : +[] { read_and_wake(task); }));
  }
  threads.clear();  // joins
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string_view shape : {"direct", "reader", "one-hop", "two-hops"})
    if (argc == 2 && shape == argv[1]) return serve(shape);
  return latency::usage(argv[0], "direct | reader | one-hop | two-hops");
}
