#include "orb/transport/detail/kept_listener.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <optional>

#include "orb/os/clock.h"
#include "orb/os/files/directory.h"
#include "orb/os/files/directory_watch.h"
#include "orb/os/log.h"
#include "orb/os/own_file.h"
#include "orb/os/thread.h"
#include "orb/os/wait/doorbell.h"

namespace corelane::transport {
namespace {

// Between two looks where the directories are watched. The watch does not report that a parent directory was renamed.
constexpr Duration between_watched_looks = std::chrono::seconds{5};
// Between two looks where they cannot be watched, and between a change and the look that follows. So several changes
// lead to one look.
constexpr Duration between_looks = std::chrono::seconds{1};

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_gone(const std::string& path) noexcept {
  struct stat found {};
  return ::lstat(path.c_str(), &found) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

// PathWatcher runs the thread as long as there are listeners.
class PathWatcher {
 public:
  static std::shared_ptr<PathWatcher> of_process() {
    static std::mutex mutex;
    static std::weak_ptr<PathWatcher> known;
    const std::lock_guard lock(mutex);
    auto watcher = known.lock();
    if (!watcher) known = watcher = std::make_shared<PathWatcher>();
    return watcher;
  }

  // If the thread cannot start, no socket is made again.
  PathWatcher() {
    auto thread = os::start_thread({.name = "corelane-paths"}, [this] { run(); });
    if (thread) thread_ = std::move(*thread);
  }
  ~PathWatcher() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    bell_.ring();
    thread_.join();
  }
  PathWatcher(const PathWatcher&) = delete;
  PathWatcher& operator=(const PathWatcher&) = delete;

  void add(KeptListener& listener) {
    {
      const std::lock_guard lock(mutex_);
      listeners_.push_back(&listener);
      watches_all_ = false;
    }
    bell_.ring();
  }
  // Stops checking the listener.
  void remove(KeptListener& listener) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(listeners_, &listener);
  }

 private:
  // Bound: until the last listener ends.
  void run() noexcept {
    const bool can_watch = bell_.open();
    while (const auto until = look(can_watch))
      watch_ ? bell_.wait_beside(watch_.descriptor(), *until) : bell_.wait(*until);
  }

  // Looks at all listeners if that is due. Returns when to call it again; nothing: the thread is to end.
  std::optional<Time> look(bool can_watch) noexcept {
    const std::lock_guard lock(mutex_);
    if (stopped_) return std::nullopt;
    const Time now = os::now();
    if (watch_.take()) due_ = std::min(due_, now + between_looks);  // before the looks, so that nothing is missed
    if (can_watch && (!watch_ || !watches_all_)) watch_all();
    if (!watch_) due_ = std::min(due_, now + between_looks);
    if (now < due_) return due_;
    for (KeptListener* listener : listeners_) listener->look(now);
    due_ = now + (watch_ ? between_watched_looks : between_looks);
    return due_;
  }

  void watch_all() noexcept try {
    std::vector<std::string> directories;
    for (const KeptListener* listener : listeners_) directories.push_back(directory_of(listener->endpoint().path));
    watch_ = os::DirectoryWatch(directories);
    watches_all_ = static_cast<bool>(watch_);
  } catch (const std::bad_alloc&) {
    watch_ = {};
  }

  std::mutex mutex_;
  os::Doorbell bell_;
  // Owner: the thread.
  os::DirectoryWatch watch_;
  Time due_{};  // the next look
  // Guarded by mutex_.
  std::vector<KeptListener*> listeners_;
  bool watches_all_ = false;  // their directories
  bool stopped_ = false;

  os::Thread thread_;
};

KeptListener::KeptListener(std::unique_ptr<Listener> first, Listen listen)
    : endpoint_(first->endpoint()), listen_(std::move(listen)), watcher_(PathWatcher::of_process()) {
  made_.push_back(std::move(first));
  watcher_->add(*this);
}

KeptListener::~KeptListener() {
  watcher_->remove(*this);
  stop();
}

// Stops the listeners without holding the mutex. That may wait for the reactor's thread, which may be in this class.
void KeptListener::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  for (const auto& listener : made_) listener->stop();  // no thread makes one any more
}

void KeptListener::look(Time now) noexcept try {
  const std::lock_guard lock(mutex_);
  if (stopped_ || now < next_try_ || !is_gone(endpoint_.path) || made_.size() > most_remade) return;
  if (os::OwnFile::are_gone()) return;  // the process ends, and has removed its sockets itself
  os::log::warn("the socket " + endpoint_.path + " was removed while this process listened there; " +
                (make_again() ? "it is there again" : "it cannot be made again now, so no client can connect there"));
} catch (const std::exception&) {
  next_try_ = now + pause;  // no memory
}

// Removes the socket's lock file, too, which may still be there and belongs to this process.
bool KeptListener::make_again() {
  next_try_ = os::now() + pause;
  const std::string directory = directory_of(endpoint_.path);
  if (is_gone(directory)) (void)os::make_directory(directory);
  ::unlink((endpoint_.path + ".lock").c_str());
  auto listener = listen_(endpoint_);
  if (!listener) return false;
  made_.push_back(std::move(*listener));
  next_try_ = {};
  return true;
}

std::unique_ptr<Listener> kept(std::unique_ptr<Listener> first, KeptListener::Listen listen) {
  if (!first->endpoint().path.starts_with('/')) return first;
  return std::make_unique<KeptListener>(std::move(first), std::move(listen));
}

}  // namespace corelane::transport
