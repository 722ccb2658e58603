#include "orb/dispatch/manager/peer_inbox.h"

#include <catch2/catch.hpp>
#include <memory>

#include "orb/dispatch/job_source.h"

using namespace corelane;
using namespace corelane::dispatch;

namespace {

class ClosableSource final : public JobSource {
 public:
  void opened() noexcept override {}
  Found poll(JobPtr&, Time) noexcept override { return Found::nothing; }
  PeerId connection() const noexcept override { return PeerId{1}; }
  bool comes_back() const noexcept override { return false; }
  int descriptor() const noexcept override { return -1; }
  Time wake_at() const noexcept override { return never; }
  void lend() noexcept override {}
  void take_back() noexcept override {}
  void close() noexcept override { ++closed; }
  int closed = 0;
};

}  // namespace

TEST_CASE("the manager learns of lost peers in their order") {
  PeerInbox inbox;
  CHECK(inbox.note_lost(PeerId{2}));
  CHECK(inbox.note_lost(PeerId{1}));
  CHECK(inbox.next_lost() == PeerId{2});
  CHECK(inbox.next_lost() == PeerId{1});
  CHECK_FALSE(inbox.next_lost());
}

TEST_CASE("no more lost peers are noted than there is room for") {
  PeerInbox inbox;
  for (std::uint64_t i = 1; i <= PeerInbox::most_losses; ++i) CHECK(inbox.note_lost(PeerId{i}));
  CHECK_FALSE(inbox.note_lost(PeerId{5000}));
  CHECK(inbox.next_lost() == PeerId{1});
  CHECK(inbox.note_lost(PeerId{5000}));
}

TEST_CASE("the manager gets each dedicated connection once") {
  PeerInbox inbox;
  const auto source = std::make_shared<ClosableSource>();
  CHECK(inbox.attach(TaskId{7}, PeerId{1}, source));
  const auto attachment = inbox.next_attachment();
  REQUIRE(attachment);
  CHECK(attachment->task == TaskId{7});
  CHECK(attachment->owner == PeerId{1});
  CHECK(attachment->source == source);
  CHECK_FALSE(inbox.next_attachment());
  CHECK(source->closed == 0);
}

TEST_CASE("a peer inbox that closes closes the connections in it and those that come later") {
  PeerInbox inbox;
  const auto waits = std::make_shared<ClosableSource>();
  const auto late = std::make_shared<ClosableSource>();
  CHECK(inbox.attach(TaskId{7}, PeerId{1}, waits));
  inbox.close();
  CHECK(waits->closed == 1);
  CHECK_FALSE(inbox.next_attachment());
  CHECK_FALSE(inbox.attach(TaskId{7}, PeerId{1}, late));
  CHECK(late->closed == 1);
  CHECK_FALSE(inbox.note_lost(PeerId{1}));
}
