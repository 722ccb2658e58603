// ServerConnection is the server's side of one client connection. It says which thread reads the connection, and moves
// it from one to another. The parts of it parse the messages (RequestReader), send replies (ServerReplies), and list
// the requests under way (PendingRequests).
//
// The id of the connection is the owner of the tasks admitted over it. When the connection closes, these tasks depart.
// A connection may also be bound to one task of another connection (dedicated_connection.h). Then the task's jobs go to
// the thread that reads the connection.
//
// Threads: the reactor's thread reads it, or the task's own thread once it is bound, or the thread that runs its
// requests (serve_where_read()). Replies are sent from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "orb/base/thread_safety.h"
#include "orb/core/requests/connection_binding.h"
#include "orb/core/requests/pending_requests.h"
#include "orb/core/requests/reply_to.h"
#include "orb/core/requests/task_ownership.h"
#include "orb/core/server/request_reader.h"
#include "orb/core/server/server.h"
#include "orb/core/server/server_replies.h"
#include "orb/dispatch/job_source.h"
#include "orb/os/memory/byte_buffer.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/connection.h"
#include "orb/transport/memory_budget.h"

namespace corelane::core {

class ServedConnection;

class ServerConnection final : public transport::Watcher,
                               public transport::MemoryHolder,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<Server> server, std::shared_ptr<transport::Connection> stream);
  // Call it before the connection is read. From then on the memory budget may make the connection wait for memory, or
  // end it to free memory for others.
  void begin() noexcept;

  void on_room() noexcept override;
  void close_stalled(Stalled why) noexcept override;

  void on_bytes(Bytes bytes, Time received) noexcept override;
  void on_borrowed(transport::BorrowedBytes borrowed, Time received) noexcept override;
  std::size_t rest_of_message() const noexcept override { return reader_.rest_of_message(); }
  bool read_elsewhere() noexcept override;
  bool is_idle() noexcept override;
  bool owes_answer() noexcept override { return !requests_.empty(); }
  void on_peer_gone() noexcept override { requests_.give_up(); }
  void on_evict() noexcept override { replies_.close_orderly(); }
  void on_closed(Error reason) noexcept override;

  // The next three functions are for a bound connection, which the task's thread reads instead of the reactor's.
  struct Taken {
    Bytes bytes;  // in the buffer, or for long messages in memory shared with the peer; empty: the peer has ended
    Time at{};    // see transport::Arrival
    bool drained = false;  // no more bytes were there
  };
  Expected<Taken> take_bytes(MutableBytes buffer) noexcept;
  // Parses one message at most. `bytes` are the rest of those taken last.
  dispatch::JobSource::Found next_job(Bytes& bytes, Time received, dispatch::JobPtr& job) noexcept;
  // Ends the connection. The reactor does the rest.
  void release() noexcept;

  // Makes the thread that runs the connection's requests read it from now on, instead of the calling thread. Returns
  // false if that is not possible in this mode or now; then nothing has changed.
  bool serve_where_read() noexcept;
  // Returns whether nothing is under way, as far as is known without a lock. Returns false if tasks were ever
  // requested.
  bool is_surely_idle() noexcept { return !reader_.use().has_asked() && !binding_.is_bound(); }
  enum class Step : std::uint8_t {
    request,  // a request to run on this thread
    other,    // answered, submitted elsewhere, or not complete yet
    tasks,    // a request of a task came, as its contract allows, or the connection was bound: call read_by_reactor()
    end,      // the connection has ended
  };
  // Takes one message from the front of `bytes`. `stays`: they lie in a buffer of the calling thread, which keeps them
  // until it has run the request.
  [[gnu::hot, gnu::always_inline]] Step next_request(Bytes& bytes, bool stays, Time received,
                                                     dispatch::JobPtr& job) noexcept {
    MessageMemory& memory = reader_.memory();
    reader_.use().forget_use();
    memory.set_kept(stays && !memory.is_shared(bytes) ? bytes : Bytes{});
    reader_.take_message(*this, bytes, received);
    memory.set_kept({});
    if (bytes.empty()) memory.release();
    if (reader_.has_job()) return job = reader_.take_job(), Step::request;
    if (!stream_->is_open()) return Step::end;
    return reader_.use().is_used() || binding_.is_bound() ? Step::tasks : Step::other;
  }
  // Waits until the first `size` bytes of a message are there, and returns how many are. `received`: when the message
  // began to arrive. While the client still copies, that takes a moment. If the client has stopped, another thread does
  // the other work of this one meanwhile. Bound: timeout.header. If the bytes do not come, this closes the connection
  // and returns why. Thread: one that has a substitute (dispatch::has_substitute()).
  Expected<std::size_t> await_rest(transport::ArrivingBytes& arriving, std::size_t size, Time received) noexcept;
  // Makes the reactor read the connection from now on, after it has parsed `rest`.
  void read_by_reactor(Bytes rest, Time received, Time half_by) noexcept;
  // Makes the tasks of the connection depart, because the client will send no more requests.
  void leave_tasks() noexcept;
  // Makes the reactor read a bound connection again, after `rest` of what was read. An incomplete message must be
  // complete by `half_by`.
  void lend(Bytes rest, Time received, Time half_by) noexcept;

  Server& server() noexcept { return *server_; }
  // Returns the account of the memory that this process holds for the peer; null: it is not counted.
  transport::MemoryAccount* memory() const noexcept { return memory_.get(); }
  transport::Connection& stream() const noexcept { return *stream_; }
  PeerId id() const noexcept { return id_; }
  ServerReplies& replies() noexcept { return replies_; }
  PendingRequests& requests() noexcept { return requests_; }
  // Returns what the tasks of this connection may be used for.
  TaskOwnership& tasks() noexcept { return tasks_; }
  ConnectionBinding& binding() noexcept { return binding_; }
  // Thread: the one that reads the connection.
  RequestReader& reader() noexcept { return reader_; }

 private:
  void took_bytes(Time received) noexcept;
  void hand_over() noexcept;
  void watch_again(Time now, Time half_by) noexcept;
  void watch_again() noexcept;
  void read_on_when_there_is_room() noexcept;

  const std::shared_ptr<Server> server_;
  const std::shared_ptr<transport::Connection> stream_;
  const PeerId id_ = stream_->id();
  const std::shared_ptr<transport::MemoryAccount> memory_;

  TaskOwnership tasks_;
  PendingRequests requests_;
  ServerReplies replies_;
  ConnectionBinding binding_;
  RequestReader reader_;
  bool move_failed_ = false;         // read_elsewhere() failed and is not tried again yet; owner: the reading thread
  std::atomic<bool> paused_{false};  // the reactor resumes reading when there is memory

  os::PiMutex mutex_;
  std::weak_ptr<ServedConnection> source_ CORELANE_GUARDED_BY(mutex_);  // the object that reads it, or did so
};

}  // namespace corelane::core
