#include "orb/channel/ends/setup.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/os/machine/host.h"
#include "orb/os/peers/own_user.h"
#include "orb/os/process/descriptor_limit.h"

namespace corelane::channel {
namespace {

template <typename T>
using Result = Expected<T, SetupFault>;

SetupFault bad_option(std::string text) { return {SetupFault::Kind::bad_option, std::move(text)}; }

bool may_be_sent(int signal) noexcept {
  return signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGIO || (signal >= SIGRTMIN && signal <= SIGRTMAX);
}

bool is_blocked(int signal) noexcept {
  sigset_t blocked;
  return pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, signal) == 1;
}

bool is_handled(int signal) noexcept {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL;
}

Result<void> check_futex() {
  std::uint32_t word = 0;
  if (syscall(SYS_futex, &word, FUTEX_WAKE, 0, nullptr, nullptr, 0) >= 0) return {};
  return system_fault("futex", errno, "use the wake-up spin or eventfd here");
}

// What this end contributes before it knows the other end.
struct Offer {
  Hello hello;
  MadeMemory region;
  Events events;        // what this end keeps
  Events given_events;  // what it gives away instead of `events`; none: it gives those
};

os::Fd make_eventfd() noexcept { return os::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

enum class EventKind : unsigned char { other, eventfd, pipe };

// Tells the kind by the descriptor's name in /proc. So no file system of the peer is asked, which might never answer.
// Without /proc an anonymous inode counts as an eventfd, although it may be a timer or an inotify.
EventKind kind_of(const os::Fd& fd) noexcept {
  char path[32], text[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd.get());
  const ssize_t length = readlink(path, text, sizeof text);
  if (length >= 0) {
    const std::string_view name(text, static_cast<std::size_t>(length));
    if (name == "anon_inode:[eventfd]") return EventKind::eventfd;
    return name.starts_with("pipe:[") ? EventKind::pipe : EventKind::other;
  }
  struct stat what {};
  if (fstat(fd.get(), &what) != 0) return EventKind::other;
  if (S_ISFIFO(what.st_mode)) return EventKind::pipe;
  return (what.st_mode & S_IFMT) == 0 ? EventKind::eventfd : EventKind::other;
}

// Opens the pipe of that end anew, for reading and writing, with flags of its own. Returns none without /proc.
os::Fd open_pipe(const os::Fd& end) noexcept {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", end.get());
  return os::Fd(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC));
}

// A pipe tells the scheduler that the waker is about to sleep. So the scheduler lets waker and reader stay on a core
// that is already busy, as with a socket. For an eventfd it would start another, idle core.
// One descriptor reads and writes. So no process that has it ever writes to a pipe without a reader, which would raise
// a signal.
os::Fd make_pipe() noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
  const os::Fd out(ends[1]);
  close(ends[0]);
  fcntl(out.get(), F_SETPIPE_SZ, page_size);  // the pipes of a user share a limit
  return open_pipe(out);
}

// Makes what this end reads and writes, and what it gives away. They are opened separately, so that a process that has
// one cannot clear O_NONBLOCK of the other.
bool make_event(os::Fd& kept, os::Fd& given) noexcept {
  given = make_pipe();
  if (given) kept = open_pipe(given);
  return bool(kept);
}

Result<void> make_events(Offer& offer) {
  Events &kept = offer.events, &given = offer.given_events;
  if (make_event(kept.record, given.record) && make_event(kept.room, given.room)) return {};
  if (const int number = errno; os::is_out_of_descriptors(number)) return no_descriptor("pipe2", number);
  kept = {make_eventfd(), make_eventfd(), true};  // there is no /proc
  given = {};
  if (!kept.record || !kept.room) return no_descriptor("eventfd", errno);
  return {};
}

// Returns how this end is woken by that peer.
Wake wake_by(const Peer& peer, const Options& options) noexcept {
  return os::is_own_user(peer.user) ? options.wake : options.wake_by_others.value_or(options.wake);
}

Shape shape_of(const Hello& hello) noexcept { return {hello.slots, hello.chunks, hello.chunk_size}; }

bool requires_growth(const Hello& hello) noexcept { return (hello.required & feature_growth) != 0; }

// Makes the Hello for that peer.
Hello hello_to(const Peer& peer, const Options& options) {
  const bool of_own_user = os::is_own_user(peer.user);
  const Shape shape = of_own_user ? options.shape : options.shape_by_others.value_or(options.shape);
  Hello hello;
  hello.wake = static_cast<std::uint32_t>(wake_by(peer, options));
  hello.signal = static_cast<std::uint32_t>(options.signal);
  hello.slots = shape.slots;
  hello.chunks = shape.chunks;
  hello.chunk_size = shape.chunk_size;
  if (!check_futex()) hello.offered &= ~feature_near_sleep;
  // A process that reads growing memory can be made to pay for it, and one that reads a growing loan waits for its
  // writer. So only ends of one user have them, which may end each other anyway.
  const bool may_grow = of_own_user && options.knows_peer;
  if (!may_grow) hello.offered &= ~(feature_growth | feature_growing_loans);
  if (may_grow && options.grows && shape.chunks != 0 && can_grow()) hello.required = feature_growth;
  const os::ProcessIdentity process = os::this_process();
  hello.process = process.pid;
  hello.start_ticks = process.start_ticks;
  return hello;
}

// Makes all that such a Hello needs.
Result<Offer> make_offer(const Options& options, const Hello& hello) {
  if (const auto right = check_options(options); !right) return right.error();
  const auto wake = static_cast<Wake>(hello.wake);
  if (const auto there = check_futex(); wake == Wake::futex && !there) return there.error();
  const Shape shape = shape_of(hello);
  auto region = requires_growth(hello) ? make_growing_memory(region_size(shape), chunks_offset(shape))
                                       : make_memory(region_size(shape), Writers::maker_alone);
  if (!region) return region.error();
  Offer offer{hello, std::move(*region), {}, {}};
  if (wake == Wake::eventfd)
    if (const auto made = make_events(offer); !made) return made.error();
  return offer;
}

Result<void> send_hello(const os::Fd& socket, Offer& offer, const MadeMemory* sleep) {
  std::vector<int> descriptors{offer.region.fd.get()};
  if (sleep != nullptr) descriptors.push_back(sleep->fd.get());
  const Events& events = offer.given_events.record ? offer.given_events : offer.events;
  if (events.record) descriptors.insert(descriptors.end(), {events.record.get(), events.room.get()});
  offer.hello.descriptors = static_cast<std::uint32_t>(descriptors.size());
  const auto sent = send_packet(socket, &offer.hello, sizeof offer.hello, descriptors);
  offer.given_events = {};
  return sent;
}

Result<std::shared_ptr<void>> admitted(const os::Fd& socket, const AdmitAfterHello& admit) {
  return admit ? admit(peer_of(socket), socket) : Result<std::shared_ptr<void>>(nullptr);
}

// Checks the way to wake the peer. The owner of an eventfd can make a write to it block. A signal goes to whatever
// process has the number by then. So both are only for ends that may stop and signal each other anyway.
Result<void> check_wake(const Hello& theirs, const Peer& peer) {
  const auto wake = static_cast<Wake>(theirs.wake);
  const auto refuse = [](std::string text) { return SetupFault{SetupFault::Kind::incompatible, std::move(text)}; };
  if (wake != Wake::eventfd && wake != Wake::signal) return {};
  if (!os::is_own_user(peer.user))
    return refuse("waking by eventfd or signal is for processes of one user, and this is user " +
                  std::to_string(geteuid()) + " and user " + std::to_string(peer.user) +
                  (peer.user == geteuid() ? ", which may be any user that this user namespace does not map" : "") +
                  "; use futex");
  if (wake == Wake::eventfd) return {};
  if (!may_be_sent(static_cast<int>(theirs.signal)))
    return refuse("signal " + std::to_string(theirs.signal) + " is not one to wake by");
  if (peer.process != theirs.process)
    return refuse("waking by signal does not work from another namespace of processes; use futex or eventfd");
  return {};
}

std::size_t expected_descriptors(const Hello& hello, Side sender) noexcept {
  return 1u + (sender == Side::connector ? 1u : 0u) +
         (hello.wake == static_cast<std::uint32_t>(Wake::eventfd) ? 2u : 0u);
}

// The peer's Hello with all descriptors that it brings. Nothing of it is mapped yet.
struct Offered {
  Hello hello;
  Passed descriptors;
};

Result<Offered> check_offer(const os::Fd& socket, Packet packet, const Hello& mine, const Options& options,
                            Side sender) {
  const auto theirs = as_hello(packet);
  if (!theirs) return theirs.error();
  if (const auto fits = check(mine, *theirs); !fits) return fits.error();
  if (const auto works = check_wake(*theirs, peer_of(socket)); !works) return works.error();
  if (packet.descriptors.size() != expected_descriptors(*theirs, sender))
    return SetupFault{SetupFault::Kind::bad_peer, "the other end sent too few or too many descriptors"};
  if (const auto size = region_size({theirs->slots, theirs->chunks, theirs->chunk_size}); size > options.largest_peer)
    return SetupFault{SetupFault::Kind::incompatible,
                      "the other end's memory has " + std::to_string(size) + " bytes, and this end maps at most " +
                          std::to_string(options.largest_peer) + "; see Options::largest_peer and Shape"};
  return Offered{*theirs, std::move(packet.descriptors)};
}

// Takes a peer's event, which this end writes to. The write must not raise SIGPIPE, as for a socket or a pipe of one
// direction that nobody reads. It must not block either. A pipe is opened anew, so that this end alone controls
// O_NONBLOCK.
Result<void> take_event(Passed& from, std::size_t index, os::Fd& event, bool& is_shared) {
  const int flags = fcntl(from[index].get(), F_GETFL);
  const EventKind kind = kind_of(from[index]);
  if (flags < 0 || kind == EventKind::other || (flags & O_ACCMODE) != O_RDWR || (flags & O_NONBLOCK) == 0)
    return SetupFault{SetupFault::Kind::bad_peer,
                      "the other end's event is neither an eventfd nor a pipe opened for reading and writing, or it "
                      "blocks; make it with EFD_NONBLOCK, or open the pipe with O_RDWR | O_NONBLOCK"};
  const os::Fd passed = from.take(index);  // closing a pipe or an eventfd never blocks
  if (kind == EventKind::pipe) event = open_pipe(passed);
  if (event) return {};
  is_shared = true;
  event.reset(fcntl(passed.get(), F_DUPFD_CLOEXEC, 0));
  if (!event) return no_descriptor("F_DUPFD_CLOEXEC", errno);
  return {};
}

// Takes the last two descriptors, in the order of the Hello.
Result<Events> take_events(Passed& descriptors) {
  Events events;
  const std::size_t room = descriptors.size() - 1;
  if (auto taken = take_event(descriptors, room, events.room, events.are_shared); !taken) return taken.error();
  if (auto taken = take_event(descriptors, room - 1, events.record, events.are_shared); !taken) return taken.error();
  return events;
}

// Takes the sleep page. Any thread may close sealed memory of tmpfs.
Result<Mapping> take_sleep_page(Passed& descriptors) {
  auto taken = adopt_memory(descriptors[1], sizeof(SleepPage), Writers::both_ends);
  if (taken) descriptors.take(1);
  return taken;
}

// Takes the peer's region. check() has already refused one that grows if this end offers no growth.
Result<Mapping> take_region(Passed& descriptors, const Hello& theirs) {
  const Shape shape = shape_of(theirs);
  const std::size_t size = region_size(shape);
  auto taken = requires_growth(theirs) ? adopt_growing_memory(descriptors[0], size, chunks_offset(shape))
                                       : adopt_memory(descriptors[0], size, Writers::maker_alone);
  if (taken) descriptors.take(0);
  return taken;
}

WakeUp wake_of(const Hello& hello, std::int32_t process) noexcept {
  return {.kind = static_cast<Wake>(hello.wake), .signal = static_cast<int>(hello.signal), .process = process};
}

// Collects all that comes from the peer, except the sleep page, and what this end says of itself.
Result<EndParts> join(const os::Fd& socket, const Hello& mine, Offered& offered) {
  EndParts parts;
  parts.mine = shape_of(mine);
  parts.theirs = shape_of(offered.hello);
  auto peer = take_region(offered.descriptors, offered.hello);
  if (!peer) return peer.error();
  parts.peer = std::move(*peer);
  if (offered.hello.wake == static_cast<std::uint32_t>(Wake::eventfd)) {
    auto events = take_events(offered.descriptors);
    if (!events) return events.error();
    parts.peer_events = std::move(*events);
  }
  parts.own_wake = wake_of(mine, getpid());
  parts.peer_wake = wake_of(offered.hello, peer_of(socket).process);
  parts.peer_process = {offered.hello.process, offered.hello.start_ticks};
  const std::uint64_t common = mine.offered & offered.hello.offered;
  parts.loans = (common & feature_loans) != 0;
  parts.far_sleep = (common & feature_far_sleep) != 0;
  parts.own_wake.near_sleep = parts.peer_wake.near_sleep = (common & feature_near_sleep) != 0;
  parts.confirms = (common & feature_confirmation) != 0;
  parts.growing_loans = parts.loans && (common & feature_growing_loans) != 0;
  parts.grows = requires_growth(mine);
  return parts;
}

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  [[maybe_unused]] const auto got = getrandom(&number, sizeof number, GRND_NONBLOCK);  // a name for logs, not a secret
  return number;
}

Result<void> say_ready(const os::Fd& socket) {
  const Ready ready;
  return send_packet(socket, &ready, sizeof ready, {});
}

// Waits for the acceptor's Ready, because the acceptor may have given up before this end was ready.
Result<void> await_confirmation(const os::Fd& socket, Time deadline) {
  const auto packet = receive_packet(socket, deadline);
  return packet ? as_ready(*packet) : packet.error();
}

Result<EndParts> connect_steps(const os::Fd& socket, const Options& options, Time deadline) {
  if (const auto welcome = check_access(socket, options); !welcome) return welcome.error();
  auto offer = make_offer(options, hello_to(peer_of(socket), options));
  if (!offer) return offer.error();
  auto sleep = make_memory(sizeof(SleepPage), Writers::both_ends);
  if (!sleep) return sleep.error();
  offer->hello.channel = random_number();
  if (const auto sent = send_hello(socket, *offer, &*sleep); !sent) return sent.error();
  auto packet = receive_packet(socket, deadline);
  if (!packet) return packet.error();
  auto offered = check_offer(socket, std::move(*packet), offer->hello, options, Side::acceptor);
  if (!offered) return offered.error();
  auto parts = join(socket, offer->hello, *offered);
  if (!parts) return parts.error();
  if (const auto sent = say_ready(socket); !sent) return sent.error();
  if (parts->confirms)
    if (const auto confirmed = await_confirmation(socket, deadline); !confirmed) return confirmed.error();
  parts->side = Side::connector;
  parts->id = offer->hello.channel;
  parts->sleep = std::move(sleep->mapping);
  parts->own = std::move(offer->region.mapping);
  parts->own_events = std::move(offer->events);
  return parts;
}

// Answers a Hello, as the acceptor.
Result<EndParts> answer(const os::Fd& socket, const Options& options, Packet packet) {
  if (const auto welcome = check_access(socket, options); !welcome) return welcome.error();
  const Hello wished = hello_to(peer_of(socket), options);
  Hello mine = wished;
  mine.required = 0;
  auto offered = check_offer(socket, std::move(packet), mine, options, Side::connector);
  if (!offered) return offered.error();
  auto pass = admitted(socket, options.admit_after_hello);
  if (!pass) return pass.error();
  mine.required = wished.required & offered->hello.offered;  // otherwise the region is whole
  auto sleep = take_sleep_page(offered->descriptors);
  if (!sleep) return sleep.error();
  auto parts = join(socket, mine, *offered);
  if (!parts) return parts.error();
  auto offer = make_offer(options, mine);  // last, when the peer's memory takes no descriptor any more
  if (!offer) return offer.error();
  offer->hello.channel = offered->hello.channel;
  if (const auto sent = send_hello(socket, *offer, nullptr); !sent) return sent.error();
  parts->side = Side::acceptor;
  parts->id = offered->hello.channel;
  parts->sleep = std::move(*sleep);
  parts->own = std::move(offer->region.mapping);
  parts->own_events = std::move(offer->events);
  parts->attachment = std::move(*pass);
  return parts;
}

SetupFault told(const os::Fd& socket, SetupFault fault) {
  if (fault.kind != SetupFault::Kind::refused) send_refusal(socket, fault.text);
  return fault;
}

}  // namespace

Expected<void, SetupFault> check_options(const Options& options) {
  if (!is_valid(options.shape) || !is_valid(options.shape_by_others.value_or(options.shape)))
    return bad_option(
        "the shape of a channel: slots are a power of two from 64 to 2^20, chunks at most 1024, chunk_size a multiple "
        "of 4096 up to 1 GiB");
  if (options.wake == Wake::signal && !may_be_sent(options.signal))
    return bad_option("waking by signal takes SIGUSR1, SIGUSR2, SIGIO or a real-time signal, not " +
                      std::to_string(options.signal));
  if (options.wake == Wake::signal && !is_blocked(options.signal) && !is_handled(options.signal))
    return bad_option("signal " + std::to_string(options.signal) +
                      " would end this process: block it (pthread_sigmask) before threads start, or handle it");
  return {};
}

Expected<void, SetupFault> check_access(const os::Fd& socket, const Options& options) {
  if (is_welcome(socket, options.access)) return {};
  const Peer peer = peer_of(socket);
  if (peer.user == geteuid())
    return SetupFault{SetupFault::Kind::denied,
                      "user " + std::to_string(peer.user) + " of process " + std::to_string(peer.process) +
                          " may be any user that this user namespace does not map; run both ends as a user of its map"};
  const std::string setting = options.access_setting.empty() ? "" : " (" + options.access_setting + ")";
  return SetupFault{SetupFault::Kind::denied, "user " + std::to_string(peer.user) + " of process " +
                                                  std::to_string(peer.process) + " is not on the access list of user " +
                                                  std::to_string(geteuid()) + "; add it there" + setting +
                                                  ", or run as one user"};
}

Expected<EndParts, SetupFault> connect_end(os::Fd connection, const Options& options, Time deadline) {
  os::PeerSocket socket(std::move(connection));
  auto parts = connect_steps(socket, options, deadline);
  if (!parts) return told(socket, parts.error());
  parts->watch = PeerWatch(std::move(socket), parts->peer_process);
  return parts;
}

std::optional<Expected<EndParts, SetupFault>> Acceptance::advance(const Options& options) {
  auto packet = receive_packet(socket_, Time{});
  if (!packet) return told(socket_, packet.error());
  if (!parts_) {
    auto parts = answer(socket_, options, std::move(*packet));
    if (!parts) return told(socket_, parts.error());
    parts_ = std::move(*parts);
    return std::nullopt;
  }
  if (const auto ready = as_ready(*packet); !ready) return told(socket_, ready.error());
  if (parts_->confirms)
    if (const auto sent = say_ready(socket_); !sent) return told(socket_, sent.error());
  parts_->watch = PeerWatch(std::move(socket_), parts_->peer_process);
  return std::move(*parts_);
}

SetupFault Acceptance::refuse(SetupFault fault) { return told(socket_, std::move(fault)); }
SetupFault Acceptance::give_up(std::string why) { return refuse({SetupFault::Kind::timed_out, std::move(why)}); }

Expected<EndParts, SetupFault> accept_end(os::Fd socket, const Options& options, Time deadline) {
  Acceptance acceptance{os::PeerSocket(std::move(socket))};
  if (const auto right = check_options(options); !right) return acceptance.refuse(right.error());
  while (wait_readable(acceptance.descriptor(), deadline))  // bound: two packets
    if (auto done = acceptance.advance(options)) return std::move(*done);
  return acceptance.give_up();
}

}  // namespace corelane::channel
