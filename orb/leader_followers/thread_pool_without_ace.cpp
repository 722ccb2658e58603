// Takes the place of thread_pool.cpp in a build without ACE. No pool can be started there, so no other function runs.
#include <utility>

#include "orb/base/minor.h"
#include "orb/leader_followers/thread_pool.h"

namespace corelane::leader_followers {
namespace {

constexpr Error no_ace{ErrorKind::no_implement, Completion::no, minor::bad_option};

}  // namespace

class ThreadPool::Impl {};

bool ThreadPool::is_built() noexcept { return false; }
Expected<std::unique_ptr<ThreadPool>> ThreadPool::start(const PoolOptions&) { return no_ace; }

ThreadPool::ThreadPool(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
ThreadPool::~ThreadPool() = default;

Expected<void> ThreadPool::add(int, std::shared_ptr<ReadyHandler>) { return no_ace; }
void ThreadPool::remove(int) {}
bool ThreadPool::real_time() const noexcept { return false; }
void ThreadPool::stop() noexcept {}

}  // namespace corelane::leader_followers
