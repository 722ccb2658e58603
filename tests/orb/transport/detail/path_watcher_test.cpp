// When a PathWatcher looks at the sockets of its listeners.
#include "orb/transport/detail/path_watcher.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "orb/transport/detail/path_listener.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

namespace path_watcher_test {

using namespace corelane;
using namespace std::chrono_literals;
using transport::Endpoint;
using transport::PathListener;
using transport::PathWatcher;

namespace {

// A listener that only has a path.
class Still final : public transport::Listener {
 public:
  explicit Still(const std::string& path) : endpoint_{.kind = &transport::kinds::unix_socket, .path = path} {}
  const Endpoint& endpoint() const noexcept override { return endpoint_; }
  void stop() noexcept override {}

 private:
  const Endpoint endpoint_;
};

struct Kept {
  const testing::TempDirectory place;
  std::shared_ptr<PathWatcher> watcher = std::make_shared<PathWatcher>();
  std::vector<std::unique_ptr<PathListener>> listeners;
  int made = 0;
  Time now = Time{} + 1h;

  // Adds a listener at the path. A regular file is there in place of its socket.
  void add(const std::string& path) {
    std::ofstream(path) << "x";
    add_only(path);
  }
  void add_only(const std::string& path) {
    const auto make_again = [this](const Endpoint& at) -> Expected<std::unique_ptr<transport::Listener>> {
      ++made;
      if (!(std::ofstream(at.path) << "x")) return Error{};
      return std::unique_ptr<transport::Listener>(std::make_unique<Still>(at.path));
    };
    listeners.push_back(std::make_unique<PathListener>(std::make_unique<Still>(path), make_again, watcher));
  }
  // Waits as its thread does.
  void await() { watcher->parker().park(never); }
  // Steps it once, as its thread does, after `time`. Returns when it wants to be stepped again.
  Duration step(Duration time = {}) {
    now += time;
    (void)watcher->step(now);
    return watcher->wake_at() - now;
  }
};

}  // namespace

TEST_CASE("a change in the directory of a socket leads to a look, a second later") {
  const testing::CapturedErrors errors;
  Kept kept;
  kept.add(kept.place / "a.sock");
  kept.await();  // takes the ring of add()
  CHECK(kept.step() == PathWatcher::between_watched_looks);
  std::filesystem::remove(kept.place / "a.sock");
  kept.await();  // would block without the change
  CHECK(kept.step() == PathWatcher::between_looks);
  CHECK(kept.made == 0);
  CHECK(kept.step(PathWatcher::between_looks) == PathWatcher::between_watched_looks);
  CHECK(kept.made == 1);
  CHECK(errors.times("it is there again") == 1);
}

TEST_CASE("a socket whose directory cannot be watched is looked at each second") {
  const testing::CapturedErrors errors;
  Kept kept;
  kept.add(kept.place / "a.sock");
  kept.add_only(kept.place / "missing/directory/b.sock");
  CHECK(kept.step() == PathWatcher::between_looks);
  CHECK(errors.times("it cannot be made again now") == 1);
  std::filesystem::create_directories(kept.place / "missing/directory");
  CHECK(kept.step() == PathWatcher::between_looks);  // also a look after the watch was made
  CHECK(kept.step(PathWatcher::between_looks) == PathWatcher::between_watched_looks);
}

TEST_CASE("the directory of a socket that is added is watched, too") {
  Kept kept;
  kept.add(kept.place / "a.sock");
  kept.await();  // takes the ring of add()
  CHECK(kept.step() == PathWatcher::between_watched_looks);
  std::filesystem::create_directory(kept.place / "b");
  kept.add(kept.place / "b" + "/b.sock");
  kept.await();  // would block if add() did not wake the thread
  CHECK(kept.step() == PathWatcher::between_looks);
  CHECK(kept.step(PathWatcher::between_looks) == PathWatcher::between_watched_looks);
  std::filesystem::rename(kept.place / "b" + "/b.sock", kept.place / "b" + "/c.sock");
  CHECK(kept.step() == PathWatcher::between_looks);
}

TEST_CASE("a socket in the root directory is watched there") {
  Kept kept;
  kept.add_only("/etc");  // it is there, and stands for a socket
  CHECK(kept.listeners.front()->directory() == "/");
  CHECK(kept.step() == PathWatcher::between_watched_looks);
}

}  // namespace path_watcher_test
