// Tests what the rest of the system does to channels: kernels without a feature, namespaces, a stopped peer, and users.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <iostream>

#include "orb/channel/memory/memory.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/peers/forked_peer.h"
#include "tests/support/peers/stop_process.h"

namespace surroundings_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

const Shape small{.slots = 64, .chunks = 2, .chunk_size = 4096};

// Makes a system call fail in this process from now on. Returns false if the system does not allow that.
bool forget_system_call(long number, int error) {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{4, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Returns what `body` returns in a separate process.
template <typename Body>
std::string in_child(Body&& body) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const os::Fd out(ends[0]);
  const pid_t child = corelane::testing::fork_alone();
  if (child == 0) {
    const std::string text = body();
    _exit(write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string text;
  char piece[512];
  for (ssize_t got; (got = ::read(out.get(), piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(got));
  CHECK(end_of(child) == 0);
  return text;
}

bool holds(const std::string& text, std::string_view words) {
  INFO(text);
  return text.find(words) != std::string::npos;
}

// Passes one message there and back with a child that first went into other namespaces. Returns false if it may not.
bool talks_from(int namespaces, ChildIs role, const Options& options) {
  Meeting meeting(options);
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t outer = corelane::testing::fork_alone();
  if (outer == 0) {  // a new process namespace begins with the next child
    const bool moved = unshare(namespaces) == 0;
    if (write(ends[1], moved ? "y" : "n", 1) != 1 || !moved) _exit(0);
    const pid_t child = meeting.fork_child(role, [](Channel& end) {
      return end.write(as_bytes(read(end)), soon()) && read(end) == ended(Fault::peer_closed) ? 0 : 1;
    });
    _exit(end_of(child));
  }
  char moved = 'n';
  REQUIRE(::read(ends[0], &moved, 1) == 1);
  close(ends[0]), close(ends[1]);
  if (moved == 'y') {
    Channel end = expect(meeting.meet_child(role));
    REQUIRE(end.write(as_bytes("hello"), soon()));
    CHECK(read(end) == "hello");
  }
  CHECK(end_of(outer) == 0);
  return moved == 'y';
}

}  // namespace

TEST_CASE("a kernel or a sandbox without a system call gets an error that names it and says what else to do") {
  const auto [number, error, words] = GENERATE(table<long, int, std::string>({
      {SYS_memfd_create, ENOSYS, "memfd_create: Function not implemented; channels need it"},
      {SYS_memfd_create, ENOMEM, "memfd_create: Cannot allocate memory; raise the limits of memory of process"},
      {SYS_memfd_create, EPERM, "memfd_create: Operation not permitted"},
      {SYS_futex, ENOSYS, "futex: Function not implemented; use the wake-up spin or eventfd"},
      {SYS_fallocate, ENOSPC, "no memory for a channel"},
      {SYS_pipe2, EMFILE, "pipe2: Too many open files; raise ulimit -n of process"},
      {SYS_pipe2, ENFILE, "pipe2: Too many open files in system; raise fs.file-max"},
      {SYS_eventfd2, ENOSYS, "eventfd: Function not implemented; channels need it"},
  }));
  const bool by_event = number == SYS_eventfd2 || number == SYS_pipe2;
  const Options options{.shape = small, .wake = by_event ? Wake::eventfd : Wake::futex};
  const std::string text = in_child([&, number = number, error = error] {
    SocketPair sockets;
    const bool has_pipes = number != SYS_eventfd2;  // pipes take the place of eventfds
    if ((!has_pipes && !forget_system_call(SYS_pipe2, ENOSYS)) || !forget_system_call(number, error))
      return std::string("SKIPPED");
    const auto end = Channel::connect_over(std::move(sockets.near), options, at_once);
    return end ? std::string("a channel") : end.error().text;
  });
  if (text == "SKIPPED")
    std::cout << "SKIPPED: this system does not let a process give up system calls\n";
  else
    CHECK(holds(text, words));
}

TEST_CASE("memory that cannot be sealed is an error that names the kernel that is needed") {
  const std::string text = in_child([] {
    if (!forget_system_call(SYS_fcntl, EINVAL)) return std::string("SKIPPED");
    const auto made = make_memory(4096, Writers::maker_alone);
    return made ? std::string("memory") : made.error().text;
  });
  if (text == "SKIPPED") {
    std::cout << "SKIPPED: this system does not let a process give up system calls\n";
    return;
  }
  CHECK(holds(text, "F_SEAL_FUTURE_WRITE"));
  CHECK(holds(text, "(Linux 5.1)"));
}

TEST_CASE("a limit of file sizes is an error that names it and does not end the process") {
  const std::string text = in_child([] {
    const rlimit page{.rlim_cur = 4096, .rlim_max = 4096};
    setrlimit(RLIMIT_FSIZE, &page);
    const auto made = make_memory(8192, Writers::maker_alone);
    return made ? std::string("memory") : made.error().text;
  });
  CHECK(holds(text, "ulimit -f"));
}

TEST_CASE("without pidfds the socket alone tells of a death") {
  Meeting meeting({.shape = small, .wake = Wake::eventfd});
  const pid_t child = meeting.fork_child(ChildIs::connector, [](Channel& end) { return end.wait(soon()) ? 0 : 1; });
  const std::string text = in_child([&] {
    if (!forget_system_call(SYS_pidfd_open, ENOSYS)) return std::string("SKIPPED");
    Channel end = expect(meeting.meet_child(ChildIs::connector));
    kill(child, SIGKILL);
    return read(end);
  });
  if (text == "SKIPPED") kill(child, SIGKILL);
  CHECK((text == "SKIPPED" || text == ended(Fault::peer_died)));
  CHECK(end_of(child) == -SIGKILL);
}

TEST_CASE("a peer that left the socket to a child of its own is still seen to die") {
  Meeting meeting({.shape = small, .wake = Wake::eventfd});
  const pid_t child = meeting.fork_child(ChildIs::connector, [](Channel& end) {
    const pid_t heir = corelane::testing::fork_alone();  // it keeps the socket; its parent sends its id
    if (heir == 0) return pause();
    (void)end.try_write(std::as_bytes(std::span{&heir, 1}));
    raise(SIGKILL);
    return 0;
  });
  Channel end = expect(meeting.meet_child(ChildIs::connector));
  pid_t heir = 0;
  REQUIRE(end.read(std::as_writable_bytes(std::span{&heir, 1}), soon()));
  CHECK(end_of(child) == -SIGKILL);
  if (end.sees_process())
    CHECK(read(end) == ended(Fault::peer_died));
  else
    std::cout << "SKIPPED: no pidfd here\n";
  kill(heir, SIGKILL);
}

TEST_CASE("a peer in a namespace of processes of its own that left the socket to a child is seen to die") {
  Meeting meeting({.shape = small, .wake = Wake::eventfd});
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const os::Fd until(ends[0]);
  os::Fd ours(ends[1]);
  int told[2];
  REQUIRE(pipe2(told, O_CLOEXEC) == 0);
  const pid_t outer = corelane::testing::fork_alone();
  if (outer == 0) {
    ours.reset();
    const bool moved = unshare(CLONE_NEWPID) == 0;
    if (write(told[1], moved ? "y" : "n", 1) != 1 || !moved) _exit(0);
    // The first process of the new namespace. The others end with it.
    const pid_t first = corelane::testing::fork_alone();
    if (first != 0) _exit(end_of(first));
    const pid_t child = meeting.fork_child(ChildIs::connector, [](Channel& end) {
      if (corelane::testing::fork_alone() == 0) return pause();  // it keeps the socket
      return read(end) == "die" ? raise(SIGKILL) : 1;
    });
    const bool was_killed = end_of(child) == -SIGKILL;
    char any;
    _exit(::read(until.get(), &any, 1) == 0 && was_killed ? 0 : 1);
  }
  const os::Fd tells(told[0]), unused(told[1]);
  char moved = 'n';
  REQUIRE(::read(tells.get(), &moved, 1) == 1);
  if (moved == 'n') std::cout << "SKIPPED: this system gives no namespaces\n";
  if (moved == 'y') {
    Channel end = expect(meeting.meet_child(ChildIs::connector));
    CHECK(end.sees_process());
    REQUIRE(end.try_write(as_bytes("die")));
    if (end.sees_process()) CHECK(read(end) == ended(Fault::peer_died));
  }
  ours.reset();
  CHECK(end_of(outer) == 0);
}

TEST_CASE("an acceptor that inherited its listener is not taken for the process that made it") {
  Meeting meeting({.shape = small, .wake = Wake::eventfd});
  const pid_t child = meeting.fork_child(ChildIs::acceptor, [](Channel& end) { return end.wait(soon()) ? 1 : 0; });
  Channel end = expect(meeting.meet_child(ChildIs::acceptor));
  CHECK(end.peer().process == getpid());  // the process that called listen()
  CHECK_FALSE(end.sees_process());
  kill(child, SIGKILL);
  CHECK(read(end) == ended(Fault::peer_died));
  CHECK(end_of(child) == -SIGKILL);
}

TEST_CASE("a peer that is stopped makes calls time out, and they go on when it does") {
  Meeting meeting({.shape = small});
  const pid_t child = meeting.fork_child(ChildIs::connector, [](Channel& end) {
    while (end.write(as_bytes(read(end)), soon())) continue;
    return 0;
  });
  Channel end = expect(meeting.meet_child(ChildIs::connector));
  REQUIRE(end.write(as_bytes("one"), soon()));
  CHECK(read(end) == "one");
  REQUIRE(stop_process(child));
  while (end.try_write(as_bytes("x"))) continue;
  CHECK(end.write(as_bytes("x"), os::now() + std::chrono::milliseconds{5}).error() == Fault::timed_out);
  CHECK(read(end, os::now() + std::chrono::milliseconds{5}) == ended(Fault::timed_out));
  CHECK(end.look_at_peer());
  REQUIRE(kill(child, SIGCONT) == 0);
  CHECK(read(end) == "x");
  end.close();
  CHECK(end_of(child) == 0);
}

TEST_CASE("ends in other namespaces of processes, mounts and networks talk to each other") {
  const ChildIs role = GENERATE(ChildIs::connector, ChildIs::acceptor);
  const Options options{.shape = small, .wake = GENERATE(Wake::futex, Wake::eventfd)};
  if (!talks_from(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC, role, options))
    std::cout << "SKIPPED: this system gives no namespaces\n";
}

TEST_CASE("waking by signal is refused between namespaces of processes") {
  Meeting meeting({.shape = small, .wake = Wake::futex});
  const pid_t outer = corelane::testing::fork_alone();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
    signal(SIGUSR1, SIG_IGN);
    const pid_t child = corelane::testing::fork_alone();
    if (child != 0) _exit(end_of(child));
    auto socket = connect_socket(meeting.path(), soon());
    if (!socket) _exit(1);
    const Options by_signal{.shape = small, .wake = Wake::signal, .signal = SIGUSR1};
    const auto end = Channel::connect_over(std::move(*socket), by_signal, soon());
    _exit(!end && end.error().text.find("another namespace") != std::string::npos ? 0 : 2);
  }
  const auto end = meeting.meet_child(ChildIs::connector);
  CHECK_FALSE(end);
  const int code = end_of(outer);
  if (code == 77)
    std::cout << "SKIPPED: this system gives no namespaces\n";
  else
    CHECK(code == 0);
}

TEST_CASE("memory of a channel can be locked, or the channel says that it is not") {
  ChannelPair ends({.shape = {.slots = 64, .chunks = 0}, .lock_memory = true});
  CHECK(ends.near.is_locked() == ends.far.is_locked());
  CHECK_FALSE(ChannelPair().near.is_locked());
}

}  // namespace surroundings_test
