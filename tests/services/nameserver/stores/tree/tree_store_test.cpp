// What a store does if its journal fails, and if several threads write at once.
#include "services/nameserver/stores/tree/tree_store.h"

#include <atomic>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/system/captured_errors.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;
using corelane::testing::CapturedErrors;

namespace {

// Keeps what it is given, and fails while `fault` is set. The test fails if two threads call it at once.
struct JournalLog {
  Changes kept;
  ContextId next_context = 0;
  std::optional<StoreFault> fault;
  bool throws = false;
  std::atomic<int> inside{0};
  bool was_alone = true;
};

class LoggedJournal final : public Journal {
 public:
  explicit LoggedJournal(JournalLog& log) : log_(log) {}

  corelane::Expected<void, StoreFault> keep(const Changes& changes, ContextId next_context) override {
    if (++log_.inside != 1) log_.was_alone = false;
    if (log_.throws) {
      --log_.inside;
      throw std::bad_alloc();
    }
    if (!log_.fault) log_.kept.insert(log_.kept.end(), changes.begin(), changes.end());
    log_.next_context = next_context;
    --log_.inside;
    return log_.fault ? corelane::Expected<void, StoreFault>(*log_.fault) : corelane::Expected<void, StoreFault>();
  }
  StoreStatus status() override { return {.kind = "logged"}; }

 private:
  JournalLog& log_;
};

TreeStore store_over(JournalLog& log) { return TreeStore(Tree(StoreLimits{}), std::make_unique<LoggedJournal>(log)); }

}  // namespace

TEST_CASE("a change that the journal did not keep was never there") {
  JournalLog log;
  TreeStore store = store_over(log);
  int told = 0;
  store.on_change([&](const Change&) { ++told; });
  REQUIRE(store.add(root_context, {"a", ""}, object_at("kept")));
  log.fault = StoreFault::unavailable;
  CHECK(fails_with(store.add(root_context, {"b", ""}, object_at("lost")), StoreFault::unavailable));
  CHECK(fails_with(store.remove(root_context, {"a", ""}), StoreFault::unavailable));
  CHECK(fails_with(store.make_context(), StoreFault::unavailable));
  CHECK(reference_at(store, root_context, {"a", ""}) == "kept");
  CHECK(reference_at(store, root_context, {"b", ""}) == "not found");
  CHECK(store.status().revision == 1);
  log.fault.reset();
  CHECK(store.add(root_context, {"b", ""}, object_at("second try")));
  CHECK(told == 2);
  CHECK(log.kept.back().revision == 2);
}

TEST_CASE("a journal without memory keeps nothing and delays no caller") {
  const CapturedErrors errors;
  JournalLog log;
  TreeStore store = store_over(log);
  log.throws = true;
  CHECK(fails_with(store.add(root_context, {"a", ""}, object_at("lost")), StoreFault::unavailable));
  CHECK(reference_at(store, root_context, {"a", ""}) == "not found");
  log.throws = false;
  CHECK(store.add(root_context, {"a", ""}, object_at("second try")));
  CHECK(store.status().revision == 1);
  CHECK(errors.times("a change cannot be made") == 1);
}

TEST_CASE("a listener that throws when it is told of a change is told of the next one and may leave") {
  const CapturedErrors errors;
  JournalLog log;
  TreeStore store = store_over(log);
  int told = 0;
  store.on_change([&](const Change&) {
    if (++told == 1) throw std::runtime_error("not now");
  });
  CHECK(store.add(root_context, {"a", ""}, object_at("x")));
  CHECK(store.add(root_context, {"b", ""}, object_at("x")));
  store.on_change({});
  CHECK(told == 2);
  CHECK(errors.times("not now") == 1);
}

TEST_CASE("a listener of a store is removed once none of its calls runs") {
  JournalLog log;
  TreeStore store = store_over(log);
  std::atomic<bool> inside{false}, was_inside{false};
  store.on_change([&](const Change&) {
    inside = was_inside = true;
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    inside = false;
  });
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) (void)store.add(root_context, {std::to_string(i), ""}, object_at("x"));
  });
  while (!was_inside) std::this_thread::yield();
  store.on_change({});
  CHECK_FALSE(inside);
  was_inside = false;
  writer.join();
  CHECK(store.add(root_context, {"another", ""}, object_at("x")));
  CHECK_FALSE(was_inside);
}

TEST_CASE("an operation that changes nothing is not written") {
  JournalLog log;
  log.fault = StoreFault::unavailable;
  TreeStore store = store_over(log);
  CHECK(fails_with(store.remove(root_context, {"a", ""}), StoreFault::not_found));
  CHECK(store.remove_owned("nobody"));
  CHECK(log.next_context == 0);
}

TEST_CASE("writers side by side reach the journal one after the other, in the order of revisions") {
  JournalLog log;
  TreeStore store = store_over(log);
  law_writers_side_by_side(store);
  CHECK(log.was_alone);
  for (std::size_t i = 0; i < log.kept.size(); ++i) CHECK(log.kept[i].revision == i + 1);
}

TEST_CASE("a store continues from what its journal has kept") {
  Tree tree{StoreLimits{}};
  tree.apply({.kind = Change::Kind::made, .context = 7});
  tree.apply({.context = 7, .name = {"a", ""}, .binding = object_at("x", "anna")});
  JournalLog log;
  TreeStore store(std::move(tree), std::make_unique<LoggedJournal>(log), 40);
  CHECK(reference_at(store, 7, {"a", ""}) == "x");
  CHECK(store.make_context().value() == 8);
  CHECK(log.next_context == 9);
  CHECK(store.status().revision == 41);
}
