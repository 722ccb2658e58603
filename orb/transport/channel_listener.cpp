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

#include "orb/base/counted.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/descriptor_limit.h"
#include "orb/os/log.h"
#include "orb/transport/detail/channel_link.h"
#include "orb/transport/detail/stream_connection.h"

namespace corelane::transport {
namespace {

constexpr std::chrono::seconds quiet_time{10};  // between two lines of the log
constexpr std::chrono::milliseconds room_patience{100};
constexpr std::chrono::seconds kept_channel{1};               // after what came over it last
constexpr std::chrono::milliseconds no_resources_pause{100};  // until descriptors or memory may be there again

using channel::SetupFault;

// What the porter gives: all that a connection may be short of.
struct Place {
  Place(ConnectionCensus::Ticket counted, ChannelWatch descriptors)
      : ticket(std::move(counted)), watch(std::move(descriptors)) {}
  ConnectionCensus::Ticket ticket;
  ChannelWatch watch;
};

// The system gives the lowest number that is free. A channel takes ten at most: beyond a half the rest is for
// sockets.
bool is_beyond_half(const os::Fd& fd) noexcept {
  return static_cast<std::size_t>(fd.get()) > os::descriptor_limit() / 2;
}

bool has_half_left(const os::Fd& any) noexcept {
  const os::Fd lowest(fcntl(any.get(), F_DUPFD_CLOEXEC, 0));
  return lowest && !is_beyond_half(lowest);
}

constexpr std::string_view half_in_use =
    "half of this server's descriptors (RLIMIT_NOFILE) are in use, and the others are for sockets; raise its "
    "ulimit -n, or LimitNOFILE= of its systemd unit";

SetupFault half_is_in_use(const channel::Peer& peer) {
  return {SetupFault::Kind::denied,
          "user " + std::to_string(peer.user) + " gets no channel: " + std::string(half_in_use)};
}

using Evict = std::function<bool(ConnectionCensus&)>;

// What the census does on the reactor's thread, asked for by the door's. Whoever is not waited for any more ends
// nobody's connection. Shared by both threads.
class Eviction : public std::enable_shared_from_this<Eviction> {
 public:
  // Thread: the reactor's. What made room has given its descriptors back when this is over: that was posted before.
  void run(ConnectionCensus& census, Reactor::Impl& reactor, const Evict& evict) noexcept {
    if (!advance(Stage::asked, Stage::begun) || !try_evict(census, reactor, evict)) end(Stage::vain);
  }
  // Whether there is room now. Not for long: the reactor's thread may be one that waits for this listener to stop.
  // Thread: the door's.
  bool await() noexcept {
    const bool over = ended_.park(os::now() + room_patience);
    if (!over && !advance(Stage::asked, Stage::withdrawn)) ended_.park(os::now() + room_patience);
    return stage() == Stage::made_room;
  }
  bool is_over() const noexcept { return stage() >= Stage::made_room; }

 private:
  enum class Stage : std::uint8_t { asked, withdrawn, begun, made_room, vain };

  bool try_evict(ConnectionCensus& census, Reactor::Impl& reactor, const Evict& evict) noexcept try {
    return evict(census) && reactor.post([self = shared_from_this()] { self->end(Stage::made_room); });
  } catch (const std::bad_alloc&) {
    return false;
  }
  void end(Stage stage) noexcept {
    // PAIR eviction.stage: release here -> acquire in stage(). The ticket that was given back is counted no more.
    stage_.store(stage, std::memory_order_release);
    ended_.unpark();
  }
  bool advance(Stage from, Stage to) noexcept {
    // relaxed: only one of the two threads leaves `asked`, and nothing else hangs on it
    return stage_.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }
  // PAIR eviction.stage: acquire here <- release in end().
  Stage stage() const noexcept { return stage_.load(std::memory_order_acquire); }

  std::atomic<Stage> stage_{Stage::asked};  // Thread: both
  os::Parker ended_;                        // waiter: the door's thread
};

// Makes room for newcomers. A reactor that is too busy for it holds the door up once: as long as it has not come to
// what it was asked there is nothing to ask again. Thread: the door's.
class Evictor {
 public:
  Evictor(std::shared_ptr<ConnectionCensus> census, std::shared_ptr<Reactor::Impl> reactor)
      : census_(std::move(census)), reactor_(std::move(reactor)) {}

  ConnectionCensus& census() const noexcept { return *census_; }
  // Takes the place on the reactor's thread, where it is made. Later the reactor may have given it to a socket.
  std::optional<ConnectionCensus::Ticket> make_place(const std::string& host) {
    const auto place = std::make_shared<std::optional<ConnectionCensus::Ticket>>();
    const bool made = ask([host, place](ConnectionCensus& census) {
      if (!census.evict_idle(host)) return false;
      if (auto ticket = census.enter(host)) place->emplace(std::move(*ticket));
      return place->has_value();
    });
    return made ? std::move(*place) : std::nullopt;
  }
  // For somebody whom the system cannot even accept.
  bool make_descriptors() { return end_channel(); }
  // Whether that newcomer may go on in the lower half.
  bool greet(const os::Fd& newcomer) {
    served_.erase(newcomer.get());  // somebody else's, who has gone
    return !is_beyond_half(newcomer) || (make_descriptors_for(newcomer) && has_half_left(newcomer));
  }
  // For a channel whose other descriptors are open by now.
  Expected<ChannelWatch, SetupFault> make_watch(const channel::Peer& peer, const os::Fd& newcomer,
                                                const ChannelOptions& granted) {
    ChannelWatch watch = ChannelWatch::make(peer, granted);
    int fault = errno;
    if ((!watch || is_beyond_half(watch.more)) && make_descriptors_for(newcomer)) {
      watch = {};  // first: for the lowest numbers
      watch = ChannelWatch::make(peer, granted);
      fault = errno;
    }
    if (!watch) return channel::no_descriptor("epoll", fault);
    if (is_beyond_half(watch.more)) return half_is_in_use(peer);
    return watch;
  }

 private:
  // From its greeting on a newcomer costs one channel at most.
  bool make_descriptors_for(const os::Fd& newcomer) {
    if (served_.contains(newcomer.get()) || !end_channel()) return false;
    served_.insert(newcomer.get());
    return true;
  }
  // They are for clients that call, and a channel takes longer to set up than many calls over a socket: one that was
  // used just now stays.
  bool end_channel() {
    if (!ask([](ConnectionCensus& census) { return census.evict_channel(os::now() - kept_channel); })) return false;
    if (const Time now = os::now(); now >= quiet_until_) {
      quiet_until_ = now + quiet_time;
      os::log::info("idle channels make room for newcomers: " + std::string(half_in_use));
    }
    return true;
  }
  bool ask(Evict evict) {
    if (last_ && !last_->is_over()) return false;
    const auto eviction = std::make_shared<Eviction>();
    if (!reactor_->post([=, census = census_, reactor = reactor_] { eviction->run(*census, *reactor, evict); }))
      return false;
    last_ = eviction;
    return eviction->await();
  }

  const std::shared_ptr<ConnectionCensus> census_;
  const std::shared_ptr<Reactor::Impl> reactor_;
  std::shared_ptr<Eviction> last_;
  std::set<int> served_;  // sockets for whom a channel has ended; each until another newcomer has its number
  Time quiet_until_{};    // for the log
};

}  // namespace

Expected<std::unique_ptr<Listener>> ChannelListener::start(os::SocketPath path, channel::Listener door,
                                                           std::shared_ptr<Shared> shared) {
  const auto reactor = shared->reactor;
  std::unique_ptr<ChannelListener> made(new ChannelListener(std::move(path), std::move(door), std::move(shared)));
  if (!reactor->post([] {})) return Error{.kind = ErrorKind::bad_inv_order, .minor = minor::shutting_down};
  auto thread = os::start_thread({.name = "corelane-door"}, [self = made.get()] { self->run(); });
  if (!thread) return thread.error();
  made->thread_ = std::move(*thread);
  return std::unique_ptr<Listener>(std::move(made));
}

void ChannelListener::run() {
  // Bound: until stop(); each turn waits for somebody, or was told of one who was not welcome.
  while (true) try {
      auto channel = door_.accept(never);
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

channel::Options ChannelListener::options(std::shared_ptr<ConnectionCensus> census,
                                          std::shared_ptr<Reactor::Impl> reactor, const ChannelOptions& granted) {
  const auto evictor = std::make_shared<Evictor>(std::move(census), std::move(reactor));
  channel::Options options = ChannelLink::options(granted);
  options.porter = [evictor, granted](const channel::Peer& peer,
                                      const os::Fd& newcomer) -> Expected<std::shared_ptr<void>, SetupFault> {
    const std::string name = "user " + std::to_string(peer.user);
    auto ticket = evictor->census().enter(name);
    if (!ticket)
      if (auto place = evictor->make_place(name)) ticket = std::move(*place);
    if (!ticket) return SetupFault{SetupFault::Kind::denied, name + " refused: " + ticket.error()};
    auto watch = evictor->make_watch(peer, newcomer, granted);
    if (!watch) return watch.error();
    return std::shared_ptr<void>(std::make_shared<Place>(std::move(*ticket), std::move(*watch)));
  };
  options.greeter = [evictor](const channel::Peer& peer, const os::Fd& newcomer) -> Expected<void, SetupFault> {
    if (!evictor->greet(newcomer)) return half_is_in_use(peer);
    return {};
  };
  options.room_maker = [evictor] { return evictor->make_descriptors(); };
  return options;
}

void ChannelListener::admit(channel::Channel channel) {
  const auto place = std::static_pointer_cast<Place>(channel.pass());
  auto link = ChannelLink::make(std::move(channel), std::move(place->watch), shared_->endpoint, channel_endpoint({}));
  if (!link) return say("a channel could not be watched; see /proc/sys/fs/epoll/max_user_watches");
  auto connection =
      std::make_shared<StreamConnection>(std::move(*link), shared_->reactor, shared_->limits, std::move(place->ticket));
  connection->take_seat();
  shared_->reactor->ordinary()->post([shared = shared_, connection = std::move(connection)] {
    if (shared->stopped) return;
    const Acceptor acceptor = shared->acceptor;  // stop() inside it ends this listener, not the call
    acceptor(connection);
  });
}

// What comes and goes with every connection is said once in a while, with how often it was not.
void ChannelListener::say(const std::string& text) {
  const Time now = os::now();
  if (now < quiet_until_) return (void)++unsaid_;
  quiet_until_ = now + quiet_time;
  const std::size_t others = std::exchange(unsaid_, 0);
  os::log::warn(others == 0 ? text : text + " (" + counted(others, "other") + " since the last such line)");
}

void ChannelListener::stop() noexcept {
  path_.reset();  // first, so that nobody finds a socket where connecting is refused
  door_.stop();
  thread_.join();
  const auto end = [shared = shared_] { shared->stopped = true; };
  if (!shared_->reactor->ordinary()->run_and_wait(end))
    end();  // the reactor's thread has ended: this one stands in for it
}

}  // namespace corelane::transport
