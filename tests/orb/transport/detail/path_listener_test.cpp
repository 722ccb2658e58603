// Tests a socket whose file is removed while a server listens there.
#include "orb/transport/detail/path_listener.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/os/clock.h"
#include "orb/os/own_file.h"
#include "orb/transport/detail/path_watcher.h"
#include "orb/transport/socket_transport.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using transport::Endpoint;
using transport::TransportKind;
using namespace std::chrono_literals;
namespace kinds = transport::kinds;

namespace path_listener_test {

// A server at a path, and its clients.
class Served {
 public:
  explicit Served(const TransportKind* kind) : kind_(kind), transport_(*reactor_) {
    std::filesystem::create_directory(directory());
    listener =
        std::move(*transport_.listen(endpoint(), [this](ConnectionPtr connection) { accepted.put(connection); }));
  }
  ~Served() {
    listener.reset();
    reactor_->stop();
  }

  std::string directory() const { return place_ / "run"; }
  Endpoint endpoint() const { return {.kind = kind_, .path = directory() + "/server.sock"}; }
  bool connects() {
    auto made = transport_.connect(endpoint(), patience());
    if (!made) return false;
    connections_.push_back(std::move(*made));
    accepted.take();
    return true;
  }
  void await_connect() {
    while (!connects()) std::this_thread::yield();  // endless if the socket is not made again
  }

  std::unique_ptr<transport::Listener> listener;
  Mailbox<ConnectionPtr> accepted;

 private:
  const TransportKind* const kind_;
  const TempDirectory place_;
  std::unique_ptr<transport::Reactor> reactor_ = std::move(*transport::Reactor::start());
  transport::SocketTransport transport_;
  std::vector<ConnectionPtr> connections_;
};

// A listener that only has a path.
class Still final : public transport::Listener {
 public:
  explicit Still(const std::string& path) : endpoint_{.kind = &kinds::unix_socket, .path = path} {}
  const Endpoint& endpoint() const noexcept override { return endpoint_; }
  void stop() noexcept override {}

 private:
  const Endpoint endpoint_;
};

// Runs a function at the end of the process, after everything that was set up since the start of main().
struct AtEnd {
  std::function<void()> run;
  ~AtEnd() {
    if (run) run();
  }
};
AtEnd at_end;

// Ends the process if its socket would be made again after the end of the process has removed it.
void end_with_socket(const std::string& path) {
  const auto make_again = [](const Endpoint&) -> Expected<std::unique_ptr<transport::Listener>> { std::_Exit(1); };
  [[maybe_unused]] static auto* const file =
      new os::OwnFile(path, os::Fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
  static auto* const kept = new transport::PathListener(std::make_unique<Still>(path), make_again,
                                                        std::make_shared<transport::PathWatcher>());
  at_end.run = [path] {
    if (std::filesystem::exists(path)) std::_Exit(2);
    kept->look(os::now());
  };
  std::exit(0);
}

}  // namespace path_listener_test

using namespace path_listener_test;

TEST_CASE("a socket that was removed is made again, alone, with its lock, or with its directory, and the log says so") {
  const CapturedErrors errors;
  const auto kind = GENERATE(&kinds::unix_socket, &kinds::channel);
  Served served(kind);
  CHECK(served.connects());
  const std::string path = served.endpoint().path;
  const std::string said = "the socket " + path + " was removed while this process listened there; it is there again";
  // Each removal is one step, because another thread looks for the socket. It writes the log after it has made the
  // socket again.
  const auto removed = [&](const std::function<void()>& remove, std::size_t times) {
    remove();
    served.await_connect();
    while (errors.times(said) < times) std::this_thread::yield();
    CHECK(errors.times(said) == times);
    CHECK(served.listener->endpoint() == served.endpoint());
  };
  removed([&] { std::filesystem::remove(path); }, 1);
  removed([&] { std::filesystem::remove(path + ".lock"), std::filesystem::remove(path); }, 2);
  removed([&] { std::filesystem::rename(served.directory(), served.directory() + ".old"); }, 3);
  served.listener->stop();
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_FALSE(served.connects());
}

TEST_CASE("a file in a removed socket's place is left as it is, and after stop() no socket is made again") {
  const auto kind = GENERATE(&kinds::unix_socket, &kinds::channel);
  Served served(kind);
  const std::string path = served.endpoint().path;
  auto& kept = dynamic_cast<transport::PathListener&>(*served.listener);
  std::ofstream(path + ".new") << "another's";
  std::filesystem::rename(path + ".new", path);  // in one step, because another thread looks for the socket
  kept.look(os::now());
  CHECK(std::filesystem::is_regular_file(path));
  std::filesystem::remove(path);
  kept.stop();
  kept.look(os::now());
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a socket that cannot be made again is told of once in a while") {
  const CapturedErrors errors;
  Served served(&kinds::unix_socket);
  while (!std::filesystem::is_regular_file(served.directory())) {  // bound: a thread that looks once a second
    std::filesystem::remove_all(served.directory());
    std::ofstream(served.directory()) << "no directory";
  }
  auto& kept = dynamic_cast<transport::PathListener&>(*served.listener);
  for (int i = 0; i < 5; ++i) kept.look(os::now());
  CHECK(errors.times("it cannot be made again now") == 1);
}

TEST_CASE("the end of the process removes a socket, and it is not made again") {
  const TempDirectory place;
  std::cout.flush();
  const pid_t child = fork_alone();
  if (child == 0) end_with_socket(place / "server.sock");
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("a socket that cannot be made again is tried again soon, and the log says so once") {
  const CapturedErrors errors;
  const TempDirectory place;
  const std::string path = place / "run/server.sock";
  int tries = 0;
  bool works = false;
  transport::PathListener listener(
      std::make_unique<Still>(path),
      [&](const Endpoint&) -> Expected<std::unique_ptr<transport::Listener>> {
        ++tries;
        if (!works) return Error{};
        return std::unique_ptr<transport::Listener>(std::make_unique<Still>(path));
      },
      std::make_shared<transport::PathWatcher>());
  std::ofstream(place / "run") << "a file in the directory's place";
  Time now = os::now();
  for (const auto pause : {1s, 2s, 4s, 8s, 8s}) {
    const int before = tries;
    listener.look(now);
    listener.look(now + pause - 1ns);
    CHECK(tries == before + 1);
    now += pause;
  }
  CHECK(errors.times("cannot be made again now") == 1);
  works = true;
  listener.look(now);
  CHECK(errors.times("it is there again") == 1);
}
