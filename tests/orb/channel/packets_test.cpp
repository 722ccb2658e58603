// Tests packets that no correct end sends while a channel is set up, and that nothing is left of them.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "orb/channel/bell.h"
#include "orb/channel/listener.h"
#include "orb/os/files/file_room.h"
#include "orb/os/threads/closer.h"
#include "tests/orb/channel/raw_peer.h"
#include "tests/support/system/lingering_socket.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;
using Kind = SetupFault::Kind;

namespace {

std::size_t open_descriptors() {
  os::Closer::of_descriptors().await();
  const std::filesystem::directory_iterator begin("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
}

std::size_t channel_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("corelane-channel") != std::string::npos ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a lingering socket in a packet of the handshake does not delay the end that refuses it") {
  const std::size_t bytes = GENERATE(0u, 1u, 200u);
  LingeringSocket lingering;
  SocketPair sockets;
  lingering.send_to(sockets.near, bytes);
  CHECK_FALSE(Channel::accept_over(std::move(sockets.far), {}, soon()));
  lingering.far.reset();
  os::Closer::of_descriptors().await();
}

TEST_CASE("a lingering socket in the place of memory or of an event delays no thread") {
  const int place = GENERATE(0, 1, 2, 3);
  const os::Fd good(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  LingeringSocket lingering;
  RawPeer peer;
  peer.hello.wake = static_cast<std::uint32_t>(Wake::eventfd);
  peer.hello.descriptors = 4;
  SocketPair sockets;
  std::vector<int> descriptors{peer.region.fd.get(), peer.sleep.fd.get(), good.get(), good.get()};
  descriptors[static_cast<std::size_t>(place)] = lingering.near.get();
  peer.say_all(sockets.near, &peer.hello, sizeof peer.hello, descriptors);
  lingering.near.reset();
  CHECK_FALSE(Channel::accept_over(std::move(sockets.far), {}, soon()));
  lingering.far.reset();
  os::Closer::of_descriptors().await();
}

TEST_CASE("more descriptors than any packet brings delay no thread either") {
  LingeringSocket lingering;
  SocketPair sockets;
  std::vector<int> descriptors(8, lingering.near.get());
  // send_packet() has room only for the descriptors of a correct packet.
  iovec part{descriptors.data(), 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 8)] = {};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  *CMSG_FIRSTHDR(&message) = {CMSG_LEN(sizeof(int) * 8), SOL_SOCKET, SCM_RIGHTS};
  std::memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), descriptors.data(), sizeof(int) * 8);
  REQUIRE(sendmsg(sockets.near.get(), &message, MSG_NOSIGNAL) == 1);
  lingering.near.reset();
  CHECK(says(Channel::accept_over(std::move(sockets.far), {}, soon()), "sent more descriptors"));
  lingering.far.reset();
  os::Closer::of_descriptors().await();
}

TEST_CASE("a lingering socket that comes before the channel is there spoils it and delays no thread") {
  LingeringSocket lingering;
  SocketPair sockets;
  RawPeer peer;
  peer.say_all(sockets.near);
  lingering.send_to(sockets.near);
  {
    Channel end = expect(Channel::accept_over(std::move(sockets.far), {}, soon()));
    if (GENERATE(false, true)) {
      end.disarm();
      CHECK(read(end) == ended(Fault::spoiled));
    }
  }
  lingering.far.reset();
  os::Closer::of_descriptors().await();
}

TEST_CASE("a rejected client delays nobody with the packets that it has sent") {
  const TempDirectory directory;
  const std::string path = directory / "channel";
  LingeringSocket lingering;
  {
    auto listener =
        Listener::listen(path, {.admit_on_connect = [](const Peer&, const os::Fd&) -> Expected<void, SetupFault> {
                           return SetupFault{Kind::denied, "not today"};
                         }});
    REQUIRE(listener);
    const auto incoming = connect_socket(path, soon());
    REQUIRE(incoming);
    lingering.send_to(*incoming);
    if (GENERATE(false, true))
      CHECK(listener->accept(soon()).error().text == "not today");
    else
      listener->stop();  // the client is still in the queue
  }
  lingering.far.reset();
  os::Closer::of_descriptors().await();
}

TEST_CASE("a Unix stream takes no descriptors from its clients") {
  const TempDirectory directory;
  auto path = os::SocketPath::claim(directory / "stream");
  REQUIRE(path);
  const auto door = path->listen(0600);
  REQUIRE(door);
  const os::Fd client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = os::unix_address(directory / "stream");
  REQUIRE(connect(client.get(), address->generic(), address->length) == 0);
  if (!os::kernel_refuses_descriptors()) {
    std::cout << "SKIPPED: this kernel lets anybody send descriptors\n";
    return;
  }
  LingeringSocket lingering;
  const auto sent = send_packet(client, "x", 1, {lingering.near.get()});
  REQUIRE_FALSE(sent);
  CHECK(sent.error().number == EPERM);
}

TEST_CASE("descriptors that come with the bytes of a stream on an older kernel are closed by another thread") {
  LingeringSocket lingering;
  SocketPair sockets;
  lingering.send_to(sockets.near);
  char byte;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[os::passed_room];
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  const std::size_t before = open_descriptors();
  REQUIRE(recvmsg(sockets.far.get(), &message, MSG_CMSG_CLOEXEC) == 1);
  os::close_passed(message);
  lingering.far.reset();
  CHECK(open_descriptors() == before - 1);
}

TEST_CASE("a channel takes no descriptors once it is set up") {
  LingeringSocket lingering;
  SocketPair sockets;
  RawPeer peer;
  peer.say_all(sockets.near);
  const Channel end = expect(Channel::accept_over(std::move(sockets.far), {}, soon()));
  if (!os::kernel_refuses_descriptors()) {
    std::cout << "SKIPPED: this kernel lets anybody send descriptors\n";
    return;
  }
  const auto sent = send_packet(sockets.near, "x", 1, {lingering.near.get()});
  REQUIRE_FALSE(sent);
  CHECK(sent.error().number == EPERM);
}

TEST_CASE("packets that are no hello are refused") {
  RawPeer peer;
  std::string bytes(sizeof(Hello), '\0');
  std::memcpy(bytes.data(), &peer.hello, sizeof(Hello));
  const auto [at, value, words] = GENERATE(table<std::size_t, int, std::string>({
      {0, 'x', "does not speak this protocol"},
      {8, 2, "out of turn"},
      {8, 77, "out of turn"},
      {52, 65, "impossible size"},  // slots
      {58, 1, "impossible size"},   // chunks
      {60, 1, "impossible size"},   // chunk_size
      {72, 1, "other descriptors than it said"},
      {72, 200, "other descriptors than it said"},
  }));
  bytes[at] = static_cast<char>(value);
  CHECK(says(peer.present(bytes.data(), bytes.size(), {peer.region.fd.get(), peer.sleep.fd.get()}), words));
}

TEST_CASE("packets of other sizes are refused") {
  RawPeer peer;
  const std::size_t size = GENERATE(1u, 15u, 16u, 111u, 113u, 256u, 257u, 5000u);
  std::string bytes(size, '\0');
  std::memcpy(bytes.data(), &peer.hello, std::min(size, sizeof(Hello)));
  const auto result = peer.present(bytes.data(), bytes.size(), {peer.region.fd.get(), peer.sleep.fd.get()});
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == Kind::bad_peer);
}

TEST_CASE("descriptors that are no sealed, allocated memory of the announced size are refused") {
  RawPeer peer;
  const std::size_t size = peer.region.mapping.size();
  const auto unsealed = [&](int seals, std::size_t bytes, bool allocated) {
    const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(ftruncate(fd, static_cast<off_t>(bytes)) == 0);
    if (allocated) REQUIRE(fallocate(fd, 0, 0, static_cast<off_t>(bytes)) == 0);
    REQUIRE(fcntl(fd, F_ADD_SEALS, seals) == 0);
    return os::Fd(fd);
  };
  const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | 0x10;
  const std::pair<std::function<os::Fd()>, std::string> cases[] = {
      {[] { return os::Fd(open("/dev/null", O_RDWR)); }, "is not a memfd"},
      {[] { return os::Fd(open("/proc/self/exe", O_RDONLY)); }, "is not a memfd"},
      {[=] { return unsealed(0, size, true); }, "is not sealed"},
      {[=] { return unsealed(all & ~F_SEAL_SHRINK, size, true); }, "is not sealed"},
      {[=] { return unsealed(all & ~0x10, size, true); }, "is not sealed"},
      {[=] { return unsealed(all, size - 4096, true); }, "does not have the size"},
      {[=] { return unsealed(all, size + 4096, true); }, "does not have the size"},
      {[=] { return unsealed(all, size, false); }, "is not allocated"},
  };
  const auto& [make, words] = cases[GENERATE(range(0, 8))];
  const os::Fd bad = make();
  CHECK(says(peer.present(&peer.hello, sizeof(Hello), {bad.get(), peer.sleep.fd.get()}), words));
}

TEST_CASE("a sleep page that is none is refused") {
  RawPeer peer;
  CHECK(says(peer.present(&peer.hello, sizeof(Hello), {peer.region.fd.get(), peer.region.fd.get()}),
             "does not have the size"));
  const os::Fd null(open("/dev/null", O_RDWR));
  CHECK(says(peer.present(&peer.hello, sizeof(Hello), {peer.region.fd.get(), null.get()}), "is not a memfd"));
}

TEST_CASE("a sleep page that may not be written is refused as the peer's fault") {
  RawPeer peer;
  const os::Fd read_only(open(("/proc/self/fd/" + std::to_string(peer.sleep.fd.get())).c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(read_only);
  const os::Fd sealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(os::take_room(sealed, 0, static_cast<off_t>(peer.sleep.mapping.size())));
  REQUIRE(fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0);
  const os::Fd& bad = GENERATE(false, true) ? sealed : read_only;
  const auto result = peer.present(&peer.hello, sizeof(Hello), {peer.region.fd.get(), bad.get()});
  CHECK(says(result, "may not be mapped"));
  CHECK(result.error().kind == Kind::bad_peer);
}

TEST_CASE("too few and too many descriptors are refused and none leaks") {
  RawPeer peer;
  const int fd = peer.region.fd.get();
  const auto descriptors =
      GENERATE_COPY(std::vector<int>{fd}, std::vector<int>(3, fd), std::vector<int>(4, fd), std::vector<int>{});
  const std::size_t before = open_descriptors();
  peer.hello.descriptors = static_cast<std::uint32_t>(descriptors.size());
  CHECK_FALSE(peer.present(&peer.hello, sizeof(Hello), descriptors));
  peer.answer.reset();
  CHECK(open_descriptors() == before);
}

TEST_CASE("descriptors that come with an empty packet are closed") {
  const std::size_t before = open_descriptors();
  {
    RawPeer peer;
    const auto result = peer.present("", 0, {peer.region.fd.get(), peer.sleep.fd.get()});
    CHECK(says(result, "hung up while the channel was being set up"));
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("an event that could raise SIGPIPE or block or is of another kind is refused") {
  int ends[2], blocking[2];
  REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(pipe2(blocking, O_CLOEXEC) == 0);
  const os::Fd reader(ends[0]), writer(ends[1]), blocking_reader(blocking[0]), blocking_writer(blocking[1]);
  const os::Fd good(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), blocks(eventfd(0, EFD_CLOEXEC));
  const SocketPair sockets;
  const os::Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const os::Fd file(memfd_create("test", MFD_CLOEXEC));
  REQUIRE(timer);
  REQUIRE(fcntl(file.get(), F_SETFL, O_NONBLOCK) == 0);
  const bool as_room = GENERATE(false, true);
  for (const int bad :
       {writer.get(), blocking_writer.get(), blocks.get(), sockets.near.get(), timer.get(), file.get()}) {
    RawPeer peer;
    peer.hello.wake = static_cast<std::uint32_t>(Wake::eventfd);
    peer.hello.descriptors = 4;
    const int record = as_room ? good.get() : bad, room = as_room ? bad : good.get();
    const auto result =
        peer.present(&peer.hello, sizeof peer.hello, {peer.region.fd.get(), peer.sleep.fd.get(), record, room});
    CHECK(says(result, "the other end's event is neither an eventfd nor a pipe opened for reading and writing"));
    CHECK(peer.refusal().find("EFD_NONBLOCK") != std::string::npos);
  }
}

TEST_CASE("a full event that has become blocking does not delay the end that rings it") {
  const os::Fd event(eventfd(0, EFD_CLOEXEC));
  const std::uint64_t most = ~std::uint64_t{1};
  REQUIRE(write(event.get(), &most, sizeof most) == sizeof most);
  std::uint32_t word = 1;  // an end sleeps
  Ringer(word, {.kind = Wake::eventfd, .event = event.get()}).ring();
  CHECK(word == 0);
}

namespace {

// The other end of a channel that is woken by descriptors. It keeps the descriptors that it was given.
struct Given {
  SocketPair sockets;
  std::optional<Channel> end;
  os::Fd record, room;

  Given() {
    RawPeer peer;
    peer.say_all(sockets.near);
    end = expect(Channel::accept_over(std::move(sockets.far), {.wake = Wake::eventfd}, soon()));
    auto answer = receive_packet(sockets.near, soon());
    REQUIRE(answer);
    REQUIRE(answer->descriptors.size() == 3);
    record = answer->descriptors.take(1), room = answer->descriptors.take(2);
  }
};

void fill_and_make_block(const os::Fd& event) {
  const std::uint64_t one = 1, most = ~std::uint64_t{1};
  while (write(event.get(), &one, sizeof one) > 0 && write(event.get(), &most, sizeof most) > 0) continue;
  REQUIRE(fcntl(event.get(), F_SETFL, 0) == 0);
}

}  // namespace

TEST_CASE("a peer that makes its descriptors blocking does not delay the end that reads them") {
  Given given;
  REQUIRE(fcntl(given.record.get(), F_SETFL, 0) == 0);
  REQUIRE(fcntl(given.room.get(), F_SETFL, 0) == 0);
  given.end->disarm();
  given.end->disarm_for_room();
  CHECK(given.end->arm());
}

TEST_CASE("a peer that fills its descriptors and makes them blocking does not delay the end that rings them") {
  Given given;
  fill_and_make_block(given.record);
  fill_and_make_block(given.room);
  given.end->make_readable();
  given.end->make_room_readable();
  CHECK(given.end->is_open());
}

TEST_CASE("an empty eventfd that has become blocking does not delay the end that reads it") {
  const os::Fd event(eventfd(0, EFD_CLOEXEC));
  std::uint32_t word = 0;
  const PeerWatch no_peer;
  Sleeper sleeper(word, {.kind = Wake::eventfd, .event = event.get()}, no_peer);
  sleeper.drain();
  CHECK(eventfd_write(event.get(), 1) == 0);
  sleeper.drain();
  pollfd watched{event.get(), POLLIN, 0};
  CHECK(poll(&watched, 1, 0) == 0);
}

TEST_CASE("a hang-up in the middle of the handshake is told") {
  SocketPair sockets;
  sockets.near.reset();
  CHECK(says(Channel::accept_over(std::move(sockets.far), {}, soon()), "hung up"));
}

TEST_CASE("control characters in a refusal do not reach the log") {
  SocketPair sockets;
  send_refusal(sockets.far, "\x1b[31mred\n");
  CHECK(says(Channel::connect_over(std::move(sockets.near), {}, soon()), "refused: ?[31mred?"));
}

TEST_CASE("channels leave neither descriptors nor mappings behind") {
  os::Closer::of_memory().await();
  const std::size_t descriptors = open_descriptors(), mappings = channel_mappings();
  for (int i = 0; i < 10; ++i) {
    os::Closer::of_memory().await();
    ChannelPair ends({.wake = Wake::eventfd});
    CHECK(channel_mappings() == mappings + 6);
    REQUIRE(ends.near.try_write(as_bytes(filled(100'000))));
    REQUIRE(ends.far.peek());
    const auto loan = ends.far.take();
  }
  os::Closer::of_memory().await();
  CHECK(open_descriptors() == descriptors);
  CHECK(channel_mappings() == mappings);
}
