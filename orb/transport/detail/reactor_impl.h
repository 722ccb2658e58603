// Reactor::Impl is the inside of a Reactor as the transports of this folder use it: readiness of descriptors, and the
// reactor's thread.
// Threads: as noted at each function. Invariant: a function that post() accepted runs before stop() returns.
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

// ReadinessHandler is called when a descriptor is ready. Thread: the reactor's.
class ReadinessHandler {
 public:
  virtual ~ReadinessHandler() = default;
  virtual void on_readable() noexcept = 0;
  virtual void on_writable() noexcept = 0;
  // The other end has hung up (EPOLLRDHUP), or the descriptor has failed. Called without being armed, at most once for
  // each time that the descriptor was asked for it.
  virtual void on_hang_up() noexcept {}
  // The descriptor was readable or writable, and had to wait (ReadGate). Now its turn has come.
  enum class Turn : std::uint8_t { read, write };
  virtual void on_turn(Turn turn) noexcept { turn == Turn::read ? on_readable() : on_writable(); }
  // The reactor stops: destroy the Readiness now.
  virtual void on_stopping() noexcept = 0;
};

// Readiness is a descriptor that is registered with the reactor until destruction. It keeps its handler alive.
// Thread: the reactor's only.
class Readiness {
 public:
  struct State;
  explicit Readiness(std::unique_ptr<State> state) noexcept;
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;
  ~Readiness();  // no callback comes after it; the descriptor stays open

  // What is known of the descriptor when it is armed. `none`: a read has just found all that there was, because a
  // stream gave less than there was room for. Then arming mostly takes no system call: the last event must have been
  // for bytes and nothing else.
  enum class Rest : std::uint8_t { unknown, none };
  // Arm one callback for when the descriptor is readable (or writable) or has failed. Arm again to get another.
  void arm_read(Rest rest = Rest::unknown) noexcept;
  void arm_write() noexcept;

 private:
  std::unique_ptr<State> state_;
};

class ReadGate;

// Repeats the function until it does not throw std::bad_alloc. For the few things that a reactor cannot do without, and
// that take some dozens of bytes. Thread: the reactor's only, which does nothing else meanwhile.
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
  // Runs the function on the reactor's thread and returns when it is done; at once when called there. Returns false if
  // it did not run because the reactor stopped. Then the reactor's thread has ended, so the caller may do its work.
  bool run_and_wait(os::UniqueFunction<void()> function);
  TimerId schedule(Time time, os::UniqueFunction<void()> function);
  bool cancel(TimerId timer);
  bool on_reactor_thread() const noexcept;
  // Returns the reactor of the thread that accepts and drains: this one, or that of Reactor::split_off_ordinary_work().
  std::shared_ptr<Impl> ordinary();
  void set_ordinary(std::shared_ptr<Impl> ordinary);
  void request_stop();
  void drop_timers();  // after run() returned; what the timers hold may hold this object

  // Thread: the reactor's only.
  void run();  // until request_stop(), and until everything that was posted before has run
  // Registers a descriptor. Returns nothing if the system refuses to watch it, or if the reactor is stopping.
  // `interest` is what it is asked for at first: bytes and the end, or the end alone, which costs nothing when bytes
  // come.
  enum class Interest : std::uint8_t { bytes_and_end, end };
  std::unique_ptr<Readiness> watch(int fd, std::shared_ptr<ReadinessHandler> handler,
                                   Interest interest = Interest::bytes_and_end);
  bool is_stopping() const noexcept;
  // Returns scratch space for reading, as large as one read may be. It is valid until the callback that uses it
  // returns. `rest`: the bytes that are missing of the current message; 0: none is incomplete.
  MutableBytes read_buffer(std::size_t rest) noexcept;
  // Returns the gate that decides what may be read, and when.
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
