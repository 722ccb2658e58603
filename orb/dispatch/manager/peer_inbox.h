// PeerInbox holds what other threads tell the manager about peers: which peers are gone, and which connections clients
// have dedicated to their tasks. The thread that tells allocates and frees, outside of the lock.
//
// Threads: any. A priority-inheriting lock guards the lists.
// Invariants: at most `most_losses` lost peers wait, the oldest first. Nothing comes in after close().
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/queue/node_list.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class PeerInbox {
 public:
  static constexpr std::size_t most_losses = 1024;

  // A connection that a client has dedicated to its task.
  struct Attachment {
    TaskId task;
    PeerId owner;
    std::shared_ptr<JobSource> source;
    std::unique_ptr<Attachment> next;
  };

  PeerInbox() { losses_.reserve(most_losses); }

  // Notes that the peer is gone. False: so many are gone at once that this one cannot be noted, or the inbox is closed.
  bool note_lost(PeerId peer) noexcept;
  // Takes the connection. False: the inbox is closed, or there is no memory; the connection was closed.
  bool attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept;

  // Return the oldest one that nobody has taken yet; nothing or null: there is none.
  std::optional<PeerId> next_lost() noexcept;
  std::unique_ptr<Attachment> next_attachment() noexcept;

  // Closes the inbox, and the connections in it.
  void close() noexcept;

 private:
  os::PiMutex mutex_;
  std::vector<PeerId> losses_ CORELANE_GUARDED_BY(mutex_);
  NodeList<Attachment> attachments_ CORELANE_GUARDED_BY(mutex_);  // at most one for each connection
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;
};

}  // namespace corelane::dispatch
