// PathListener is a listener at a path of the file system. It makes its socket again if it was removed, for example
// when the runtime directory was cleared. Otherwise later clients would find no server. Existing connections stay. If
// another file is at the path by then, it is left alone.
//
// Threads: as Listener, except for look(), which the thread of the PathWatcher calls.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/retry_pause.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class PathWatcher;

class PathListener final : public Listener {
 public:
  using Listen = std::function<Expected<std::unique_ptr<Listener>>(const Endpoint& endpoint)>;

  // `first` listens at a path. `listen` makes another listener there; it is not called after stop().
  PathListener(std::unique_ptr<Listener> first, Listen listen, std::shared_ptr<PathWatcher> watcher);
  ~PathListener() override;

  const Endpoint& endpoint() const noexcept override { return endpoint_; }
  void stop() noexcept override;
  // Returns the directory in which its socket is.
  std::string directory() const;

  // Makes the socket again if it is gone. If that fails, tries again after RetryPause. The log tells the first failure.
  void look(Time now) noexcept;

 private:
  static constexpr std::size_t most_remade = 16;  // limited, because each leaves a socket that no client finds

  bool make_again() CORELANE_REQUIRES(mutex_);
  void stop_all() noexcept;

  const Endpoint endpoint_;
  const Listen listen_;
  os::Mutex mutex_;
  // Clients find the last one. Constant once stopped_.
  std::vector<std::unique_ptr<Listener>> made_ CORELANE_GUARDED_BY(mutex_);
  bool stopped_ CORELANE_GUARDED_BY(mutex_) = false;
  RetryPause retry_;                            // owner: the thread that calls look()
  const std::shared_ptr<PathWatcher> watcher_;  // last, because it calls look(), which uses the other members
};

// Returns the same listener, as a PathListener if it has a path.
std::unique_ptr<Listener> as_path_listener(std::unique_ptr<Listener> first, PathListener::Listen listen);

}  // namespace corelane::transport
