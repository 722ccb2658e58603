#include "orb/transport/detail/path_listener.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "orb/os/files/directory.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/own_file.h"
#include "orb/transport/detail/path_watcher.h"

namespace corelane::transport {
namespace {

bool is_gone(const std::string& path) noexcept {
  struct stat found {};
  return ::lstat(path.c_str(), &found) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

PathListener::PathListener(std::unique_ptr<Listener> first, Listen listen, std::shared_ptr<PathWatcher> watcher)
    : endpoint_(first->endpoint()), listen_(std::move(listen)), watcher_(std::move(watcher)) {
  made_.push_back(std::move(first));
  watcher_->add(*this);
}

PathListener::~PathListener() {
  watcher_->remove(*this);
  stop();
}

// Stops the listeners without holding the mutex. That may wait for the reactor's thread, which may be in this class.
void PathListener::stop() noexcept {
  {
    const os::LockGuard lock(mutex_);
    stopped_ = true;
  }
  stop_all();
}

// Not analyzed: made_ is constant by now.
void PathListener::stop_all() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  for (const auto& listener : made_) listener->stop();
}

std::string PathListener::directory() const {
  const std::size_t slash = endpoint_.path.rfind('/');
  return slash == 0 ? "/" : endpoint_.path.substr(0, slash);
}

void PathListener::look(Time now) noexcept try {
  const os::LockGuard lock(mutex_);
  if (stopped_ || now < retry_.due() || !is_gone(endpoint_.path) || made_.size() > most_remade) return;
  if (os::OwnFile::are_gone()) return;  // the process ends, and has removed its sockets itself
  const std::string removed = "the socket " + endpoint_.path + " was removed while this process listened there; ";
  if (make_again()) {
    retry_.succeeded();
    os::log::warn(removed + "it is there again");
  } else if (retry_.failed(now)) {
    os::log::warn(removed +
                  "it cannot be made again now, so nobody can connect there; this is tried every few seconds");
  }
} catch (const std::exception&) {
  (void)retry_.failed(now);  // no memory
}

// Removes the socket's lock file, too, which may still be there and belongs to this process.
bool PathListener::make_again() {
  if (is_gone(directory())) (void)os::make_directory(directory());
  ::unlink((endpoint_.path + ".lock").c_str());
  auto listener = listen_(endpoint_);
  if (!listener) return false;
  made_.push_back(std::move(*listener));
  return true;
}

std::unique_ptr<Listener> as_path_listener(std::unique_ptr<Listener> first, PathListener::Listen listen) {
  if (!first->endpoint().path.starts_with('/')) return first;
  return std::make_unique<PathListener>(std::move(first), std::move(listen), PathWatcher::of_process());
}

}  // namespace corelane::transport
