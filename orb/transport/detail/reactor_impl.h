// The inside of a Reactor as the transports of this folder use it: readiness of descriptors, and the reactor's thread.
// Threads: as said at each function. Invariant: a function that was accepted by post() runs before stop() returns.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>

#include "orb/base/bytes.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/unique_function.h"
#include "orb/transport/reactor.h"

namespace corelane::transport {

// Who is told that a descriptor is ready. Thread: the reactor's.
class ReadinessHandler {
 public:
  virtual ~ReadinessHandler() = default;
  virtual void on_readable() noexcept = 0;
  virtual void on_writable() noexcept = 0;
  // The other end has hung up (EPOLLRDHUP), or the descriptor has failed. Comes without being armed, at most once for
  // each time that the descriptor was asked for it.
  virtual void on_hang_up() noexcept {}
  // It was readable, or writable, and had to wait (ReadGate): now it has its turn.
  enum class Turn : std::uint8_t { read, write };
  virtual void on_turn(Turn turn) noexcept { turn == Turn::read ? on_readable() : on_writable(); }
  // The reactor stops: give the Readiness back now.
  virtual void on_stopping() noexcept = 0;
};

// A descriptor that is registered with the reactor, until destruction. It keeps its handler alive.
// Thread: the reactor's only.
class Readiness {
 public:
  struct State;
  explicit Readiness(std::unique_ptr<State> state) noexcept;
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;
  ~Readiness();  // no callback after it; the descriptor stays open

  // What is known of the descriptor when it is armed: nothing, or that a read has just found all that there was (a
  // stream gave less than there was room for). Then mostly it takes no system call: what was told last must have been
  // bytes and nothing else.
  enum class Rest : std::uint8_t { unknown, none };
  // One callback when the descriptor is readable (or writable) or has failed; again only when armed again.
  void arm_read(Rest rest = Rest::unknown) noexcept;
  void arm_write() noexcept;

 private:
  std::unique_ptr<State> state_;
};

class ReadGate;

// For the few things that a reactor cannot do without and that take some dozens of bytes: tries until they are there.
// Thread: the reactor's only, which serves nobody meanwhile.
template <typename Function>
void insist(Function function) noexcept {
  for (;;) try {  // bound: until the process has some memory again
      return function();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

class Reactor::Impl : public std::enable_shared_from_this<Reactor::Impl> {
 public:
  Impl();
  ~Impl();

  // Thread: any.
  bool post(os::UniqueFunction<void()> function);
  // Runs it on the reactor's thread and returns when it is done; at once when called there. false: not run, because the
  // reactor stopped; its thread has ended, so that the caller may stand in for it.
  bool run_and_wait(os::UniqueFunction<void()> function);
  TimerId schedule(Time time, os::UniqueFunction<void()> function);
  bool cancel(TimerId timer);
  bool on_reactor_thread() const noexcept;
  // Of the thread that accepts and drains: this one, or the one of Reactor::split_off_ordinary_work().
  std::shared_ptr<Impl> ordinary();
  void set_ordinary(std::shared_ptr<Impl> ordinary);
  void request_stop();
  void drop_timers();  // after run() returned: what they hold may hold this

  // Thread: the reactor's only.
  void run();  // until request_stop(), and what was posted before has run
  // Nothing when the system refuses to watch the descriptor, or when the reactor is stopping. `what` it is asked for
  // at first: for bytes and the end, or for the end alone, which costs nothing when bytes come.
  enum class Interest : std::uint8_t { bytes_and_end, end };
  std::unique_ptr<Readiness> watch(int fd, std::shared_ptr<ReadinessHandler> handler,
                                   Interest interest = Interest::bytes_and_end);
  bool is_stopping() const noexcept;
  // Scratch space for reading, as much of it as one read may bring: valid until the callback that uses it returns.
  // `rest`: what is missing of the message under way; 0: none is.
  MutableBytes read_buffer(std::size_t rest) noexcept;
  // What may be read, and when.
  ReadGate& reads() noexcept;

 private:
  friend class Readiness;
  friend struct Readiness::State;
  struct Io;

  bool has_posted() const noexcept;
  void run_posted();
  void arm_timer();
  void run_due_timers();
  void tell(void* owner, std::uint32_t what);
  void stop_handlers();

  std::unique_ptr<Io> io_;
};

}  // namespace corelane::transport
