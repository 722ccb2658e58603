// KeptListener: a listener at a path of the file system, whose socket is made again when somebody has removed it, as
// when the runtime directory was cleared: clients that come later would find nobody. Connections that there are stay.
// What stands at the path by then is left alone.
//
// Threads: look() on the one that all of a process share (corelane-paths, an ordinary one), once a second; else as
// Listener.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/time.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class PathKeeper;

class KeptListener final : public Listener {
 public:
  using Listen = std::function<Expected<std::unique_ptr<Listener>>(const Endpoint& endpoint)>;

  // `first` listens at a path; `listen` makes another one there, and is not called after stop().
  KeptListener(std::unique_ptr<Listener> first, Listen listen);
  ~KeptListener() override;

  const Endpoint& endpoint() const noexcept override { return endpoint_; }
  void stop() noexcept override;

  // Makes the socket again where it is gone.
  void look(Time now) noexcept;

 private:
  static constexpr std::size_t most_remade = 16;              // each leaves a socket that nobody finds any more
  static constexpr Duration pause = std::chrono::minutes{1};  // after one that could not be made

  bool make_again();

  const Endpoint endpoint_;
  const Listen listen_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::unique_ptr<Listener>> made_;  // the last one is found; constant once stopped_
  bool stopped_ = false;
  Time next_try_{};
  const std::shared_ptr<PathKeeper> keeper_;  // last: it looks at the others
};

// The same listener, kept where it has a path.
std::unique_ptr<Listener> kept(std::unique_ptr<Listener> first, KeptListener::Listen listen);

}  // namespace corelane::transport
