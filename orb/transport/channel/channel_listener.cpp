#include "orb/transport/detail/channel_listener.h"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "orb/base/minor.h"
#include "orb/base/text/counted.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/process/descriptor_limit.h"
#include "orb/transport/detail/channel_link.h"
#include "orb/transport/stream/stream_connection.h"

namespace corelane::transport {
namespace {

constexpr std::chrono::seconds quiet_time{10};  // between two lines of the log
constexpr std::chrono::milliseconds room_patience{100};
constexpr std::chrono::seconds kept_channel{1};               // after the last data came over it
constexpr std::chrono::milliseconds no_resources_pause{100};  // until there may be descriptors or memory again

using channel::SetupFault;

// What admit_after_hello() returns: all that may be scarce for a connection.
struct Place {
  Place(ConnectionLimiter::Ticket counted, ChannelWatch descriptors)
      : ticket(std::move(counted)), watch(std::move(descriptors)) {}
  ConnectionLimiter::Ticket ticket;
  ChannelWatch watch;
};

// Returns whether the descriptor is in the upper half. The system gives the lowest free number. A channel takes ten
// descriptors at most. Channels stay in the lower half, and the rest is for sockets.
bool is_beyond_half(const os::Fd& fd) noexcept {
  return static_cast<std::size_t>(fd.get()) > os::descriptor_limit() / 2;
}

bool has_half_left(const os::Fd& any) noexcept {
  const os::Fd lowest(fcntl(any.get(), F_DUPFD_CLOEXEC, 0));
  return lowest && !is_beyond_half(lowest);
}

constexpr std::string_view half_in_use =
    "half of this server's descriptors (RLIMIT_NOFILE) are in use, and the other half is reserved for sockets; "
    "raise its ulimit -n, or LimitNOFILE= of its systemd unit";

SetupFault half_is_in_use(const channel::Peer& peer) {
  return {SetupFault::Kind::denied,
          "user " + std::to_string(peer.user) + " gets no channel: " + std::string(half_in_use)};
}

using Evict = std::function<bool(ConnectionLimiter&)>;

// Eviction is one request to the limiter. The listener's thread makes it, and it runs on the reactor's thread. If the
// listener's thread no longer waits for it, it ends no connection. Shared by both threads.
class Eviction : public std::enable_shared_from_this<Eviction> {
 public:
  // Runs the request. When it is over, the evicted connection has given its descriptors back, because that was posted
  // earlier. Thread: the reactor's.
  void run(ConnectionLimiter& limiter, Reactor::Impl& reactor, const Evict& evict) noexcept {
    if (!advance(Stage::asked, Stage::begun) || !try_evict(limiter, reactor, evict)) end(Stage::failed);
  }
  // Returns whether there is room now. Waits only briefly, because the reactor's thread may be waiting for this
  // listener to stop. Thread: the listener's.
  bool await() noexcept {
    const bool over = ended_.park(os::now() + room_patience);
    if (!over && !advance(Stage::asked, Stage::withdrawn)) ended_.park(os::now() + room_patience);
    return stage() == Stage::made_room;
  }
  bool is_over() const noexcept { return stage() >= Stage::made_room; }

 private:
  enum class Stage : std::uint8_t { asked, withdrawn, begun, made_room, failed };

  bool try_evict(ConnectionLimiter& limiter, Reactor::Impl& reactor, const Evict& evict) noexcept try {
    return evict(limiter) && reactor.post([self = shared_from_this()] { self->end(Stage::made_room); });
  } catch (const std::bad_alloc&) {
    return false;
  }
  void end(Stage stage) noexcept {
    // PAIR eviction.stage: release here -> acquire in stage(). The ticket that was given back no longer counts.
    stage_.store(stage, std::memory_order_release);
    ended_.unpark();
  }
  bool advance(Stage from, Stage to) noexcept {
    // relaxed: only one of the two threads moves on from `asked`, and nothing else depends on it
    return stage_.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }
  // PAIR eviction.stage: acquire here <- release in end().
  Stage stage() const noexcept { return stage_.load(std::memory_order_acquire); }

  std::atomic<Stage> stage_{Stage::asked};  // Thread: both
  os::Parker ended_;                        // waiter: the listener's thread
};

// Evictor makes room for new connections. A reactor that is too busy for a request delays the listener's thread once.
// Until the reactor has run that request, the evictor makes no other. Thread: the listener's.
class Evictor {
 public:
  Evictor(std::shared_ptr<ConnectionLimiter> limiter, std::shared_ptr<Reactor::Impl> reactor)
      : limiter_(std::move(limiter)), reactor_(std::move(reactor)) {}

  ConnectionLimiter& limiter() const noexcept { return *limiter_; }
  // Takes the place on the reactor's thread, right where it becomes free. Later the reactor may have given it to a
  // socket.
  std::optional<ConnectionLimiter::Ticket> make_place(const std::string& host) {
    const auto place = std::make_shared<std::optional<ConnectionLimiter::Ticket>>();
    const bool made = ask([host, place](ConnectionLimiter& limiter) {
      if (!limiter.evict_idle(host)) return false;
      if (auto ticket = limiter.enter(host)) place->emplace(std::move(*ticket));
      return place->has_value();
    });
    return made ? std::move(*place) : std::nullopt;
  }
  // Makes descriptors free for a peer that the system cannot even accept.
  bool make_descriptors() { return end_channel(); }
  // Returns whether that new connection may continue with a descriptor in the lower half.
  bool has_place_for(const os::Fd& incoming) {
    served_.erase(incoming.get());  // an earlier peer had this number, and has gone
    return !is_beyond_half(incoming) || (make_descriptors_for(incoming) && has_half_left(incoming));
  }
  // Makes the watch of a channel whose other descriptors are already open.
  Expected<ChannelWatch, SetupFault> make_watch(const channel::Peer& peer, const os::Fd& incoming,
                                                const ChannelOptions& granted) {
    ChannelWatch watch = ChannelWatch::make(peer, granted);
    int fault = errno;
    if ((!watch || is_beyond_half(watch.more)) && make_descriptors_for(incoming)) {
      watch = {};  // first, so that the lowest numbers are free
      watch = ChannelWatch::make(peer, granted);
      fault = errno;
    }
    if (!watch) return channel::no_descriptor("epoll", fault);
    if (is_beyond_half(watch.more)) return half_is_in_use(peer);
    return watch;
  }

 private:
  // Ends a channel for a new connection, at most once for each after has_place_for().
  bool make_descriptors_for(const os::Fd& incoming) {
    if (served_.contains(incoming.get()) || !end_channel()) return false;
    served_.insert(incoming.get());
    return true;
  }
  // Ends one channel. Channels are for clients that call, and setting one up takes longer than many calls over a
  // socket. So a channel that was used just now stays.
  bool end_channel() {
    if (!ask([](ConnectionLimiter& limiter) { return limiter.evict_channel(os::now() - kept_channel); })) return false;
    if (const Time now = os::now(); now >= quiet_until_) {
      quiet_until_ = now + quiet_time;
      os::log::info("closing idle channels to make room for new connections: " + std::string(half_in_use));
    }
    return true;
  }
  bool ask(Evict evict) {
    if (last_ && !last_->is_over()) return false;
    const auto eviction = std::make_shared<Eviction>();
    if (!reactor_->post([=, limiter = limiter_, reactor = reactor_] { eviction->run(*limiter, *reactor, evict); }))
      return false;
    last_ = eviction;
    return eviction->await();
  }

  const std::shared_ptr<ConnectionLimiter> limiter_;
  const std::shared_ptr<Reactor::Impl> reactor_;
  std::shared_ptr<Eviction> last_;
  std::set<int> served_;  // sockets for which a channel has ended; each until another new connection has its number
  Time quiet_until_{};    // for the log
};

}  // namespace

Expected<std::unique_ptr<Listener>> ChannelListener::start(os::SocketPath path, channel::Listener listener,
                                                           std::shared_ptr<Shared> shared) {
  const auto reactor = shared->reactor;
  std::unique_ptr<ChannelListener> made(new ChannelListener(std::move(path), std::move(listener), std::move(shared)));
  if (!reactor->post([] {})) return Error{.kind = ErrorKind::bad_inv_order, .minor = minor::shutting_down};
  auto thread = os::start_thread({.name = "cl-handshake"}, [self = made.get()] { self->run(); });
  if (!thread) return thread.error();
  made->thread_ = std::move(*thread);
  return std::unique_ptr<Listener>(std::move(made));
}

void ChannelListener::run() {
  // Bound: until stop(). Each turn waits for a peer, or was told of one that was refused.
  while (true) try {
      auto channel = listener_.accept(never);
      if (channel) {
        admit(std::move(*channel));
        continue;
      }
      const SetupFault& fault = channel.error();
      if (fault.kind == SetupFault::Kind::stopped) return;
      say("a client got no channel at " + shared_->endpoint.path + " and was told so: " + fault.text);
      if (fault.kind == SetupFault::Kind::system) os::sleep_until(os::now() + no_resources_pause);
    } catch (const std::bad_alloc&) {
      os::sleep_until(os::now() + no_resources_pause);
    }
}

channel::Options ChannelListener::options(std::shared_ptr<ConnectionLimiter> limiter,
                                          std::shared_ptr<Reactor::Impl> reactor, const ChannelOptions& granted) {
  const auto evictor = std::make_shared<Evictor>(std::move(limiter), std::move(reactor));
  channel::Options options = ChannelLink::options(granted);
  options.admit_after_hello = [evictor, granted](
                                  const channel::Peer& peer,
                                  const os::Fd& incoming) -> Expected<std::shared_ptr<void>, SetupFault> {
    const std::string name = "user " + std::to_string(peer.user);
    auto ticket = evictor->limiter().enter(name);
    if (!ticket)
      if (auto place = evictor->make_place(name)) ticket = std::move(*place);
    if (!ticket) return SetupFault{SetupFault::Kind::denied, name + " refused: " + ticket.error()};
    auto watch = evictor->make_watch(peer, incoming, granted);
    if (!watch) return watch.error();
    return std::shared_ptr<void>(std::make_shared<Place>(std::move(*ticket), std::move(*watch)));
  };
  options.admit_on_connect = [evictor](const channel::Peer& peer,
                                       const os::Fd& incoming) -> Expected<void, SetupFault> {
    if (!evictor->has_place_for(incoming)) return half_is_in_use(peer);
    return {};
  };
  options.free_descriptors = [evictor] { return evictor->make_descriptors(); };
  return options;
}

void ChannelListener::admit(channel::Channel channel) {
  const auto place = std::static_pointer_cast<Place>(channel.attachment());
  auto link = ChannelLink::make(std::move(channel), std::move(place->watch), shared_->endpoint, channel_endpoint({}));
  if (!link) return say("a channel could not be watched; see /proc/sys/fs/epoll/max_user_watches");
  auto connection =
      StreamConnection::make(std::move(*link), shared_->reactor, shared_->limits, std::move(place->ticket));
  shared_->reactor->ordinary()->post([shared = shared_, connection = std::move(connection)] {
    if (shared->stopped) return;
    const Acceptor acceptor = shared->acceptor;  // a copy: stop() inside the call ends this listener, but not the call
    acceptor(connection);
  });
}

// Logs what may happen with every connection only once in a while, with the number of times that it was not logged.
void ChannelListener::say(const std::string& text) {
  const Time now = os::now();
  if (now < quiet_until_) return (void)++unlogged_;
  quiet_until_ = now + quiet_time;
  const std::size_t others = std::exchange(unlogged_, 0);
  os::log::warn(others == 0 ? text : text + " (" + counted(others, "other") + " since the last such line)");
}

void ChannelListener::stop() noexcept {
  path_.reset();  // first, so that no client finds a socket that refuses connections
  listener_.stop();
  thread_.join();
  const auto end = [shared = shared_] { shared->stopped = true; };
  if (!shared_->reactor->ordinary()->run_and_wait(end)) end();  // the reactor's thread has ended, so this one does it
}

}  // namespace corelane::transport
