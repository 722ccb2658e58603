// RequestSource: a connection whose requests without a contract run on the thread that reads them. Who reads
// connections (orb/core) implements it; ServingThreads drives it.
//
// Threads: the holder of the turn, one at a time, unless a function says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "orb/base/bytes.h"
#include "orb/base/time.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/serving/turn.h"

namespace corelane::dispatch {

class RequestSource : public std::enable_shared_from_this<RequestSource> {
 public:
  enum class Found : std::uint8_t {
    job,      // a request, to run on this thread
    again,    // bytes were taken, and what they asked for was answered or handed in elsewhere
    nothing,  // no bytes came
    full,     // requests of this connection wait for others of it; Next::may_read says when to read on
    blocked,  // the peer takes no replies, or memory is short; ServingThreads::resume() is called once that is over
    gone,     // the connection has ended: it is not called any more
    leaves,   // another thread is to read it from here on: leave() follows, and then it is not called any more
  };
  virtual ~RequestSource() = default;

  // The next request of what was read already; where there is none, sends what finish() kept and reads once into
  // `buffer`, which stays the source's until the next call. Waits for bytes until `until`; a time in the past: not at
  // all.
  virtual Found next(JobPtr& job, MutableBytes buffer, Time until) noexcept = 0;
  // The threads have let go of it, and of its descriptor: gives it to the thread that reads it from here on. Waits for
  // nobody: stop() does not close it any more.
  virtual void leave() noexcept = 0;
  // The job has run: sends its reply, or keeps it for a moment if more requests of the same read follow.
  virtual void finish(JobPtr job) noexcept = 0;

  // The job that runs here goes on while another thread reads the connection. Keeps what is left in `buffer` of next(),
  // and sends what finish() kept. Whether bytes that were read wait to be served.
  virtual bool detach() noexcept = 0;
  // A detached job has run: sends its reply, and says what may go on.
  struct Next {
    JobPtr job;             // to run on the calling thread, without the turn; null: nothing waits that may run
    bool more = false;      // another thread may take one, too: take_waiting()
    bool may_read = false;  // next() found it full, and may be called again
  };
  virtual Next finish_detached(JobPtr job) noexcept = 0;
  // Thread: any.
  virtual Next take_waiting() noexcept = 0;

  // A request of the connection begins to wait. In a nested call for example it does not count among those that run;
  // while one waits for the peer, none is begun. Whether take_waiting() has one more now. Thread: any; pairs.
  virtual bool begin_wait(WaitsFor what) noexcept = 0;
  virtual bool end_wait(WaitsFor what) noexcept = 0;

  // From here on descriptor() is readable as soon as something comes. False: something is there.
  virtual bool arm() noexcept = 0;
  // Constant.
  virtual int descriptor() const noexcept = 0;

  // Whether next() would not say blocked now, or the peer has ended the connection and next() has not seen that yet.
  // The event of that end may have come while the turn was taken, and it comes once. Also without the turn.
  virtual bool unblocked() noexcept = 0;
  // Whether it is blocked, as far as unblocked() tells, and from here on if it was not.
  virtual bool block() noexcept = 0;
  // What to watch a blocked connection for: events of epoll on that descriptor, by which its peer's end is seen, beside
  // EPOLLHUP and EPOLLERR. Nothing: that end is known. The descriptor is constant.
  virtual int hang_up_descriptor() const noexcept { return descriptor(); }
  virtual std::optional<std::uint32_t> end_events() const noexcept = 0;

  // When the connection has waited for long enough, if nothing comes; `never`: it may wait for ever. Thread: any.
  virtual Time expires_at() const noexcept = 0;
  // That time has come: ends the connection, unless something came meanwhile. Whether it has ended.
  virtual bool expire(Time now) noexcept = 0;
  // Another connection needs its place: the same, unless something is under way for the peer. `surely`: it is not, and
  // the connection ends in any case.
  virtual bool give_way(bool surely) noexcept = 0;

  // The process stops: a thread that waits in next() returns, and finds the source gone. Thread: any.
  virtual void close() noexcept = 0;

  Turn turn;

 private:
  friend class ServingThreads;
  // Guarded by the mutex of ServingThreads.
  RequestSource* next_ready_ = nullptr;
  std::shared_ptr<RequestSource> next_helped_;  // such a list keeps what is in it
  bool is_helped_ = false;                      // is in that list
};

}  // namespace corelane::dispatch
