#include "bench/instructions/memory_transport.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <utility>

#include "orb/base/minor.h"
#include "orb/core/server/dedicated_connection.h"
#include "orb/core/server/server_connection.h"
#include "orb/dispatch/serving/request_source.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"

namespace corelane::bench {
namespace {

constexpr std::size_t buffer_size = 64 * 1024;

// The bytes of one direction.
class Pipe {
 public:
  void write(std::span<const Bytes> parts) {
    {
      const std::lock_guard lock(mutex_);
      for (const Bytes part : parts) bytes_.insert(bytes_.end(), part.begin(), part.end());
    }
    written_.notify_all();
  }
  std::size_t read(MutableBytes buffer) {
    const std::lock_guard lock(mutex_);
    const std::size_t count = std::min(buffer.size(), bytes_.size() - read_);
    if (count > 0) std::memcpy(buffer.data(), bytes_.data() + read_, count);
    read_ += count;
    if (read_ == bytes_.size()) {
      bytes_.clear();
      read_ = 0;
    }
    return count;
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return read_ == bytes_.size();
  }
  // Returns false if nothing came by then.
  bool wait_until(Time deadline) {
    std::unique_lock lock(mutex_);
    constexpr Duration longest = std::chrono::seconds{60};
    const Duration left = deadline == never ? longest : std::min(deadline - os::now(), longest);
    return written_.wait_for(lock, left, [&] { return read_ != bytes_.size(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable written_;
  std::vector<std::byte> bytes_;  // guarded by mutex_, as is read_
  std::size_t read_ = 0;
};

PeerId next_id() noexcept {
  static std::atomic<std::uint64_t> last{1'000'000};
  return PeerId{last.fetch_add(1, std::memory_order_relaxed)};  // relaxed: only uniqueness counts
}

constexpr Error nothing_there{ErrorKind::timeout, Completion::no, minor::deadline_passed};

class End : public transport::Connection, public std::enable_shared_from_this<End> {
 public:
  End(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out, transport::Endpoint endpoint)
      : in_(std::move(in)), out_(std::move(out)), endpoint_(std::move(endpoint)) {}

  Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy) noexcept override {
    for (;;) {  // bound: the deadline, and the bytes that were sent
      if (const std::size_t count = in_->read(buffer); count > 0) return count;
      if (!is_open()) return transport::ended_by(minor::closed_here);
      if (deadline == Time{} || (!step() && !in_->wait_until(deadline))) return nothing_there;
    }
  }
  Expected<transport::Arrival> take(MutableBytes buffer) noexcept override {
    const std::size_t count = in_->read(buffer);
    if (count == 0) return nothing_there;
    return transport::Arrival{.count = count, .at = os::now()};
  }
  Expected<void> send(std::span<const Bytes> parts) noexcept override {
    if (!is_open()) return transport::ended_by(minor::closed_here);
    out_->write(parts);
    return {};
  }
  void watch(std::shared_ptr<transport::Watcher> watcher) override { watcher_ = std::move(watcher); }
  void unwatch() override { watcher_.reset(); }
  void expect_by(Time) noexcept override {}
  void renew() noexcept override {}
  // relaxed in both: no other memory depends on it
  void close() noexcept override { open_.store(false, std::memory_order_relaxed); }
  bool is_open() const noexcept override { return open_.load(std::memory_order_relaxed); }
  const transport::Endpoint& local() const noexcept override { return endpoint_; }
  const transport::Endpoint& peer() const noexcept override { return endpoint_; }
  PeerId id() const noexcept override { return id_; }
  bool await_bytes() noexcept override { return in_->empty(); }

 protected:
  // Makes one step of the other end's work. Returns false if there is none.
  virtual bool step() noexcept { return false; }

  const std::shared_ptr<Pipe> in_, out_;
  std::shared_ptr<transport::Watcher> watcher_;

 private:
  const transport::Endpoint endpoint_;
  const PeerId id_ = next_id();
  std::atomic<bool> open_{true};
};

class ServerEnd final : public End {
 public:
  ServerEnd(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out, transport::Endpoint endpoint,
            MemoryTransport::Descriptor descriptor)
      : End(std::move(in), std::move(out), std::move(endpoint)),
        hides_descriptor_(descriptor == MemoryTransport::Descriptor::once_watched) {}

  int descriptor() const noexcept override {
    return hides_descriptor_ && connection_.expired() ? -1 : never_readable_.get();
  }

  void read_by(std::weak_ptr<transport::Reader> reader) noexcept override {
    source_ = std::dynamic_pointer_cast<dispatch::RequestSource>(reader.lock());
  }
  // The first watcher is the ServerConnection.
  void watch(std::shared_ptr<transport::Watcher> watcher) override {
    connection_ = std::dynamic_pointer_cast<core::ServerConnection>(watcher);
    End::watch(std::move(watcher));
  }

  // Reads and runs what has arrived. Returns false if nothing has.
  bool serve() noexcept {
    if (in_->empty()) return false;
    if (const std::shared_ptr<transport::Watcher> watcher = watcher_) {
      watcher->on_bytes(Bytes(buffer_).first(in_->read(buffer_)), os::now());
    } else if (const auto source = source_.lock()) {
      serve_plain(*source);
    } else if (const auto connection = connection_.lock()) {
      serve_task(connection);
    } else {
      return false;
    }
    return true;
  }

 private:
  // Reads like ServingThreads.
  void serve_plain(dispatch::RequestSource& source) noexcept {
    dispatch::JobPtr job;
    for (;;) {  // bound: the bytes that have arrived
      const auto found = source.next(job, buffer_, Time{});
      if (found == dispatch::RequestSource::Found::again) continue;
      if (found != dispatch::RequestSource::Found::job) return;
      const auto upcall = source.turn.begin_upcall();
      job->run(dispatch::best_effort_context(job->arrived));
      if (source.turn.end_upcall(upcall)) source.finish(std::move(job));
    }
  }
  // Reads like the worker of a task, without its core's scheduler.
  void serve_task(const std::shared_ptr<core::ServerConnection>& connection) noexcept {
    if (!own_) {
      own_ = std::make_unique<core::DedicatedConnection>(connection, std::nullopt);
      own_->opened();
    }
    dispatch::JobPtr job;
    const Time now = os::now();
    if (own_->poll(job, now) != dispatch::JobSource::Found::job) return;
    job->run({.task = job->task,
              .job = dispatch::next_job_id(),
              .core = no_core,
              .release = job->arrived,
              .deadline = never,
              .budget = {}});
    job->finish();
  }

  const bool hides_descriptor_;
  const os::Fd never_readable_{eventfd(0, EFD_CLOEXEC)};
  std::weak_ptr<dispatch::RequestSource> source_;
  std::weak_ptr<core::ServerConnection> connection_;
  std::unique_ptr<core::DedicatedConnection> own_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(buffer_size);
};

class ClientEnd final : public End {
 public:
  ClientEnd(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out, transport::Endpoint endpoint,
            std::shared_ptr<ServerEnd> server)
      : End(std::move(in), std::move(out), std::move(endpoint)), server_(std::move(server)) {}

 private:
  bool step() noexcept override { return server_->serve(); }

  const std::shared_ptr<ServerEnd> server_;
};

}  // namespace

class MemoryTransport::MemoryListener final : public transport::Listener {
 public:
  explicit MemoryListener(std::shared_ptr<MemoryTransport> of) : of_(std::move(of)) {}
  ~MemoryListener() override { stop(); }
  const transport::Endpoint& endpoint() const noexcept override { return of_->endpoint_; }
  void stop() noexcept override { of_->acceptor_ = nullptr; }

 private:
  const std::shared_ptr<MemoryTransport> of_;
};

Expected<std::shared_ptr<transport::Connection>> MemoryTransport::connect(const transport::Endpoint& endpoint, Time) {
  if (!acceptor_) return Error{ErrorKind::transient, Completion::no, minor::connect_failed};
  auto there = std::make_shared<Pipe>(), back = std::make_shared<Pipe>();
  auto server = std::make_shared<ServerEnd>(there, back, endpoint, descriptor_);
  acceptor_(server);
  return std::shared_ptr<transport::Connection>(std::make_shared<ClientEnd>(back, there, endpoint, std::move(server)));
}

Expected<std::unique_ptr<transport::Listener>> MemoryTransport::listen(const transport::Endpoint& endpoint,
                                                                       transport::Acceptor acceptor) {
  endpoint_ = endpoint;
  endpoint_.port = 1;  // any but 0
  acceptor_ = std::move(acceptor);
  return std::unique_ptr<transport::Listener>(std::make_unique<MemoryListener>(shared_from_this()));
}

}  // namespace corelane::bench
