#include "services/nameserver/stores/etcd/etcd_copy.h"

#include <chrono>
#include <exception>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/process/size_limit_guard.h"

namespace corelane::nameserver {
namespace {

// The longest time between two writes while etcd is followed. A later start without etcd needs the time of the last one
// to know how old the names are. The file has it as a date. The interval uses the monotonic clock, because a date may
// jump.
constexpr Duration longest_unwritten = std::chrono::seconds{60};

std::int64_t seconds_since_1970() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

}  // namespace

std::unique_ptr<EtcdCopy> EtcdCopy::open(const std::string& path, const std::string& place) try {
  if (path.empty()) return nullptr;
  auto file = EtcdCopyFile::open(path, place);
  if (file) return std::make_unique<EtcdCopy>(path, std::move(*file));
  os::log::warn(file.error() + ". Without it names are not found after a start while etcd is away");
  return nullptr;
} catch (const std::exception& failure) {
  os::log::warn("the copy of names " + path + " is not used: " + failure.what());
  return nullptr;
}

EtcdCopy::EtcdCopy(std::string path, EtcdCopyFile file)
    : path_(std::move(path)), content_(file.take_content()), file_(std::move(file)), confirm_from_(os::now()) {
  if (content_) news_.revision = content_->revision, news_.seen = content_->seen;
  writing_ = std::thread([this] { write_until_stopped(); });
}

EtcdCopy::~EtcdCopy() {
  {
    const os::LockGuard lock(mutex_);
    is_stopped_ = true;
    is_due_ = is_unwritten_;
    turn_.notify_all();
  }
  writing_.join();
  const os::SizeLimitGuard guard;  // the log's content is moved into the file
  file_ = {};
}

void EtcdCopy::keep(const std::vector<EtcdEvent>& events, std::uint64_t revision) {
  const os::LockGuard lock(mutex_);
  for (const EtcdEvent& event : events) {
    auto& entry = news_.entries[event.entry.key];
    entry.reset();
    if (!event.is_deletion) entry = event.entry;
  }
  news_.revision = revision;
  news_.seen = seconds_since_1970();
  is_unwritten_ = is_due_ = true;
  turn_.notify_all();
}

void EtcdCopy::confirm() {
  const os::LockGuard lock(mutex_);
  news_.seen = seconds_since_1970();
  is_unwritten_ = true;
  if (os::now() < confirm_from_) return;
  is_due_ = true;
  turn_.notify_all();
}

// Keeps what could not be written, and writes it with the next changes or confirm(). Bound: until the destructor.
void EtcdCopy::write_until_stopped() {
  os::UniqueLock lock(mutex_);
  while (true) {
    turn_.wait(lock, [&]() CORELANE_REQUIRES(mutex_) { return is_due_ || is_stopped_; });
    if (!is_due_) return;
    is_unwritten_ = is_due_ = false;
    EtcdCopyNews news{std::exchange(news_.entries, {}), news_.revision, news_.seen};
    const bool is_last = is_stopped_;
    lock.unlock();
    const auto written = file_.write(news);
    say(written ? "" : written.error().text);
    lock.lock();
    confirm_from_ = os::now() + (written ? longest_unwritten : Duration{});
    if (written) continue;
    is_unwritten_ = true;
    is_due_ = is_due_ || (is_stopped_ && !is_last);
    news_.entries.merge(news.entries);  // entries that came meanwhile are newer and stay
  }
}

void EtcdCopy::say(const std::string& trouble) {
  if (trouble == trouble_) return;
  trouble_ = trouble;
  if (trouble.empty()) return os::log::info("the copy of names " + path_ + " is written again");
  os::log::warn("the copy of names " + path_ + " cannot be written: " + trouble +
                ": check its disk and directory. A nameserver that starts while etcd is away would find older names");
}

}  // namespace corelane::nameserver
