// Names whose lease ends during their bind, while the store performs the bind and its answer is lost.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/core/settings.h"
#include "tests/services/nameserver/served.h"

using namespace corelane;
using namespace corelane::testing;
using namespace corelane::nameserver;

namespace {

// A store in memory. Its binds first run `before`, then take effect, then report a failure.
class Unanswering final : public Store {
 public:
  Expected<Binding, StoreFault> find(ContextId context, const NameComponent& name) override {
    return names_->find(context, name);
  }
  Expected<std::vector<Entry>, StoreFault> list(ContextId context, const NameComponent* after,
                                                std::size_t most) override {
    return names_->list(context, after, most);
  }
  Expected<bool, StoreFault> has_context(ContextId context) override { return names_->has_context(context); }
  Expected<std::vector<ContextId>, StoreFault> contexts() override { return names_->contexts(); }
  Expected<std::vector<std::string>, StoreFault> owners() override { return names_->owners(); }
  Expected<void, StoreFault> add(ContextId context, const NameComponent& name, const Binding& binding) override {
    before();
    return unanswered(names_->add(context, name, binding));
  }
  Expected<void, StoreFault> replace(ContextId context, const NameComponent& name, const Binding& binding) override {
    before();
    return unanswered(names_->replace(context, name, binding));
  }
  Expected<Binding, StoreFault> remove(ContextId context, const NameComponent& name, const std::string& by) override {
    return names_->remove(context, name, by);
  }
  Expected<ContextId, StoreFault> make_context() override { return names_->make_context(); }
  Expected<ContextId, StoreFault> add_context(ContextId context, const NameComponent& name,
                                              const std::string& by) override {
    return names_->add_context(context, name, by);
  }
  Expected<void, StoreFault> destroy_context(ContextId context, const std::string& by) override {
    return names_->destroy_context(context, by);
  }
  Expected<void, StoreFault> remove_owned(const std::string& owner) override { return names_->remove_owned(owner); }
  void on_change(std::function<void(const Change&)> told) override { names_->on_change(std::move(told)); }
  StoreStatus status() override { return names_->status(); }

  std::function<void()> before = [] {};

 private:
  static Expected<void, StoreFault> unanswered(const Expected<void, StoreFault>& done) {
    CHECK(done);
    return StoreFault::unavailable;
  }

  const std::unique_ptr<Store> names_ = std::move(*open_store("memory"));
};

}  // namespace

TEST_CASE("a name that was bound and not answered for after its lease's end is gone") {
  const bool replace = GENERATE(false, true);
  QuietOrb orb;
  auto unanswering = std::make_unique<Unanswering>();
  Unanswering& store = *unanswering;
  Nameserver server(orb.orb, std::move(unanswering), orb->settings().services.of<nameserver::NameserverSettings>());
  server.open();
  const auto root = IDL::traits<Corelane::Naming::Directory>::narrow(server.root());
  std::uint32_t a_minute = 60'000;
  const auto lease = root->nameserver()->lease_for(a_minute);
  store.before = [&] { root->nameserver()->end(lease); };
  CHECK(raised_by([&] { root->bind_leased(cos_name("x"), root, lease, replace); }) == "TRANSIENT");
  CHECK(raised_by([&] { root->resolve(cos_name("x")); }) == "NotFound missing_node x");
}
