// Events over a Unix socket, and over the library of channels alone.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "bench/interactivity/event.h"
#include "orb/base/bytes.h"
#include "orb/channel/channel.h"
#include "orb/channel/listener.h"
#include "orb/os/fd.h"

namespace interactivity {

using namespace corelane;

namespace {

constexpr std::chrono::seconds patience_with_peer{180};  // longer than a set-up beside hundreds of busy threads

[[noreturn]] void fail_at(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

os::Fd new_socket() {
  os::Fd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0) fail_at("socket");
  return made;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long for a socket: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

void edit_by_socket(const std::string& path, Notebook& notebook, const Ready& ready) {
  const os::Fd door = new_socket();
  const sockaddr_un address = address_of(path);
  if (bind(door.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail_at("bind");
  if (listen(door.get(), 1) != 0) fail_at("listen");
  ready(path);
  const os::Fd service(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (service.get() < 0) fail_at("accept");
  for (Event event; !notebook.is_full(); notebook.note(event))
    if (recv(service.get(), &event, sizeof event, MSG_WAITALL) != sizeof event) fail_at("recv");
}

using Met = Expected<channel::Channel, std::string>;

// Tries again if a handshake took too long, as happens beside many busy threads.
template <typename Try>
channel::Channel meet(Try&& attempt) {
  const Time deadline = os::now() + patience_with_peer;
  for (;;) {  // bound: the deadline
    Met end = attempt(deadline);
    if (end) return std::move(*end);
    if (os::now() >= deadline) throw std::runtime_error(end.error());
  }
}

// The editor sends a greeting. Without it, a client that connected cannot know whether the editor has given up
// meanwhile.
Met accept_greeting(channel::Listener& listener, Time deadline) {
  auto end = listener.accept(deadline);
  if (!end) return Unexpected{end.error().text};
  const std::byte greeting{1};
  if (const auto sent = end->write({&greeting, 1}, deadline); !sent)
    return Unexpected{std::string(text_of(sent.error()))};
  return std::move(*end);
}

Met connect_greeted(const std::string& address, Time deadline) {
  auto end = channel::Channel::connect(address, {}, deadline);
  if (!end) return Unexpected{end.error().text};
  std::byte greeting{};
  if (const auto got = end->read({&greeting, 1}, deadline); !got) return Unexpected{std::string(text_of(got.error()))};
  return std::move(*end);
}

void edit_by_channel(const std::string& path, Notebook& notebook, const Ready& ready) {
  auto listener = channel::Listener::listen(path, {});
  if (!listener) throw std::runtime_error(listener.error().text);
  ready(path);
  auto service = meet([&](Time deadline) { return accept_greeting(*listener, deadline); });
  for (Event event; !notebook.is_full(); notebook.note(event))
    if (const auto got = service.read(std::as_writable_bytes(std::span{&event, 1}), never); !got)
      throw std::runtime_error(std::string(text_of(got.error())));
}

}  // namespace

void edit_plainly(const Route& route, Notebook& notebook, const Ready& ready) {
  const std::string path = route.directory + "/editor-" + std::to_string(getpid());
  if (route.way == Way::socket)
    edit_by_socket(path, notebook, ready);
  else
    edit_by_channel(path, notebook, ready);
  unlink(path.c_str());
}

Sender send_plainly(const Route& route, const std::string& address) {
  if (route.way == Way::socket) {
    const auto editor = std::make_shared<os::Fd>(new_socket());
    const sockaddr_un at = address_of(address);
    if (connect(editor->get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) fail_at("connect");
    return [editor](const Event& event) {
      if (send(editor->get(), &event, sizeof event, MSG_NOSIGNAL) != sizeof event) fail_at("send");
    };
  }
  const auto editor =
      std::make_shared<channel::Channel>(meet([&](Time deadline) { return connect_greeted(address, deadline); }));
  return [editor](const Event& event) {
    if (const auto sent = editor->write(std::as_bytes(std::span{&event, 1}), never); !sent)
      throw std::runtime_error(std::string(text_of(sent.error())));
  };
}

}  // namespace interactivity
