// Rules that every store has to keep. Each rule begins with a fresh store that has only its root.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "services/nameserver/stores/store.h"

namespace corelane::nameserver::testing {

struct StoreLaw {
  const char* sentence;
  void (*check)(Store& store);
};

inline Binding object_at(const std::string& reference, const std::string& owner = {}) {
  return {.type = BindingType::object, .reference = reference, .owner = owner};
}
inline Binding context_at(ContextId context) { return {.type = BindingType::context, .context = context}; }

template <typename T>
bool fails_with(const Expected<T, StoreFault>& result, StoreFault fault) {
  return !result && result.error() == fault;
}
inline std::string reference_at(Store& store, ContextId context, const NameComponent& name) {
  const auto found = store.find(context, name);
  return found ? found->reference : std::string(text_of(found.error()));
}
inline std::vector<std::string> ids_in(Store& store, ContextId context, const NameComponent* after = nullptr,
                                       std::size_t most = 1000) {
  std::vector<std::string> ids;
  const auto entries = store.list(context, after, most);
  REQUIRE(entries);
  for (const Entry& entry : *entries) ids.push_back(entry.name.id + "." + entry.name.kind);
  return ids;
}

inline void law_found_as_bound(Store& store) {
  const Binding binding = object_at("IOR:01", "process 1");
  REQUIRE(store.add(root_context, {"plant", "controller"}, binding));
  CHECK(store.find(root_context, {"plant", "controller"}).value() == binding);
  CHECK(fails_with(store.find(root_context, {"plant", ""}), StoreFault::not_found));
  CHECK(fails_with(store.find(root_context, {"", "controller"}), StoreFault::not_found));
}

inline void law_bound_once(Store& store) {
  REQUIRE(store.add(root_context, {"a", ""}, object_at("first")));
  CHECK(fails_with(store.add(root_context, {"a", ""}, object_at("second")), StoreFault::already_bound));
  CHECK(fails_with(store.add_context(root_context, {"a", ""}), StoreFault::already_bound));
  CHECK(reference_at(store, root_context, {"a", ""}) == "first");
}

inline void law_replaced(Store& store) {
  REQUIRE(store.replace(root_context, {"a", ""}, object_at("first")));
  REQUIRE(store.replace(root_context, {"a", ""}, object_at("second")));
  CHECK(reference_at(store, root_context, {"a", ""}) == "second");
  CHECK(fails_with(store.replace(root_context, {"a", ""}, context_at(root_context)), StoreFault::wrong_type));
  REQUIRE(store.add(root_context, {"c", ""}, context_at(root_context)));
  CHECK(fails_with(store.replace(root_context, {"c", ""}, object_at("third")), StoreFault::wrong_type));
  CHECK(store.find(root_context, {"c", ""})->type == BindingType::context);
}

inline void law_removed(Store& store) {
  REQUIRE(store.add(root_context, {"a", "k"}, object_at("first")));
  CHECK(store.remove(root_context, {"a", "k"}).value() == object_at("first"));
  CHECK(fails_with(store.remove(root_context, {"a", "k"}), StoreFault::not_found));
  CHECK(fails_with(store.find(root_context, {"a", "k"}), StoreFault::not_found));
  CHECK(store.add(root_context, {"a", "k"}, object_at("second")));
}

inline void law_contexts(Store& store) {
  const ContextId loose = store.make_context().value(), bound = store.add_context(root_context, {"plant", ""}).value();
  CHECK(store.contexts().value() == std::vector<ContextId>{loose, bound});
  CHECK(store.find(root_context, {"plant", ""}).value() == context_at(bound));
  REQUIRE(store.add(bound, {"a", ""}, object_at("inside")));
  CHECK(reference_at(store, bound, {"a", ""}) == "inside");
  CHECK(reference_at(store, root_context, {"a", ""}) == "not found");
  CHECK(store.has_context(root_context).value());
  CHECK(store.has_context(loose).value());
  CHECK_FALSE(store.has_context(bound + 1000).value());
}

inline void law_destroyed_empty(Store& store) {
  const ContextId context = store.add_context(root_context, {"plant", ""}).value();
  REQUIRE(store.add(context, {"a", ""}, object_at("inside")));
  CHECK(fails_with(store.destroy_context(context), StoreFault::not_empty));
  CHECK(fails_with(store.destroy_context(root_context), StoreFault::wrong_type));
  REQUIRE(store.remove(context, {"a", ""}));
  REQUIRE(store.destroy_context(context));
  CHECK_FALSE(store.has_context(context).value());
  CHECK(store.find(root_context, {"plant", ""}).value() == context_at(context));
  CHECK(store.make_context().value() != context);
}

inline void law_bound_contexts(Store& store) {
  const ContextId gone = store.make_context().value(), there = store.make_context().value();
  REQUIRE(store.destroy_context(gone));
  CHECK(fails_with(store.add(root_context, {"c", ""}, context_at(gone)), StoreFault::no_target));
  CHECK(fails_with(store.replace(there, {"c", ""}, context_at(gone)), StoreFault::no_target));
  CHECK(ids_in(store, root_context).empty());
  REQUIRE(store.add(root_context, {"c", ""}, context_at(there)));
  CHECK(fails_with(store.replace(root_context, {"c", ""}, context_at(gone)), StoreFault::no_target));
  CHECK(fails_with(store.add(root_context, {"c", ""}, context_at(gone)), StoreFault::already_bound));
  CHECK(store.replace(root_context, {"c", ""}, context_at(there)));
  CHECK(store.add(there, {"itself", ""}, context_at(there)));
  CHECK(store.add(there, {"up", ""}, context_at(root_context)));
  CHECK(store.find(root_context, {"c", ""}).value() == context_at(there));
}

inline void law_unknown_context(Store& store) {
  const ContextId gone = store.make_context().value();
  REQUIRE(store.destroy_context(gone));
  const NameComponent name{"a", ""};
  CHECK(fails_with(store.find(gone, name), StoreFault::no_such_context));
  CHECK(fails_with(store.list(gone, nullptr, 1), StoreFault::no_such_context));
  CHECK(fails_with(store.add(gone, name, object_at("x")), StoreFault::no_such_context));
  CHECK(fails_with(store.replace(gone, name, object_at("x")), StoreFault::no_such_context));
  CHECK(fails_with(store.remove(gone, name), StoreFault::no_such_context));
  CHECK(fails_with(store.add_context(gone, name), StoreFault::no_such_context));
  CHECK(fails_with(store.destroy_context(gone), StoreFault::no_such_context));
}

inline void law_pages(Store& store) {
  for (const char* id : {"c", "a", "b", "ab"}) REQUIRE(store.add(root_context, {id, "2"}, object_at(id)));
  REQUIRE(store.add(root_context, {"a", "1"}, object_at("x")));
  CHECK(ids_in(store, root_context) == std::vector<std::string>{"a.1", "a.2", "ab.2", "b.2", "c.2"});
  CHECK(ids_in(store, root_context, nullptr, 2) == std::vector<std::string>{"a.1", "a.2"});
  const NameComponent last{"a", "2"}, never_bound{"aa", ""};
  CHECK(ids_in(store, root_context, &last, 2) == std::vector<std::string>{"ab.2", "b.2"});
  CHECK(ids_in(store, root_context, &never_bound) == std::vector<std::string>{"ab.2", "b.2", "c.2"});
  CHECK(ids_in(store, root_context, nullptr, 0).empty());
}

inline void law_any_bytes(Store& store) {
  const std::vector<NameComponent> names{{"", ""},
                                         {"/", "."},
                                         {".", "/"},
                                         {"%2f", "\\"},
                                         {"\xff\x01", "\xc3\xa4 "},
                                         {std::string(3000, 'x'), std::string(3000, 'y')}};
  for (const NameComponent& name : names)
    REQUIRE(store.add(root_context, name, object_at(name.id + "\n\"\xfe" + name.kind)));
  for (const NameComponent& name : names)
    CHECK(reference_at(store, root_context, name) == name.id + "\n\"\xfe" + name.kind);
  CHECK(store.list(root_context, nullptr, 100)->size() == names.size());
  for (const NameComponent& name : names) CHECK(store.remove(root_context, name));
}

inline void law_owned(Store& store) {
  const ContextId context = store.make_context().value();
  REQUIRE(store.add(root_context, {"a", ""}, object_at("1", "anna")));
  REQUIRE(store.add(context, {"b", ""}, object_at("2", "anna")));
  REQUIRE(store.add(context, {"c", ""}, object_at("3", "otto")));
  REQUIRE(store.add(context, {"d", ""}, object_at("4")));
  CHECK(store.owners().value() == std::vector<std::string>{"anna", "otto"});
  REQUIRE(store.remove_owned("anna"));
  REQUIRE(store.remove_owned("nobody"));
  CHECK(store.owners().value() == std::vector<std::string>{"otto"});
  CHECK(ids_in(store, root_context).empty());
  CHECK(ids_in(store, context) == std::vector<std::string>{"c.", "d."});
}

inline void law_owners_change(Store& store) {
  REQUIRE(store.add(root_context, {"a", ""}, object_at("1", "anna")));
  REQUIRE(store.replace(root_context, {"a", ""}, object_at("2", "otto")));
  REQUIRE(store.remove_owned("anna"));
  CHECK(reference_at(store, root_context, {"a", ""}) == "2");
  REQUIRE(store.replace(root_context, {"a", ""}, object_at("3")));
  REQUIRE(store.remove_owned("otto"));
  CHECK(reference_at(store, root_context, {"a", ""}) == "3");
  CHECK(store.owners()->empty());
  REQUIRE(store.replace(root_context, {"a", ""}, object_at("4", "anna")));
  REQUIRE(store.remove(root_context, {"a", ""}));
  CHECK(store.owners()->empty());
}

inline void law_told_of_changes(Store& store) {
  std::mutex mutex;
  std::condition_variable grown;
  std::vector<Change> told;
  store.on_change([&](const Change& change) {
    const std::lock_guard lock(mutex);
    told.push_back(change);
    grown.notify_all();
  });
  const ContextId context = store.add_context(root_context, {"plant", ""}).value();
  REQUIRE(store.add(context, {"a", "k"}, object_at("1")));
  CHECK(fails_with(store.add(context, {"a", "k"}, object_at("2")), StoreFault::already_bound));
  REQUIRE(store.replace(context, {"a", "k"}, object_at("2")));
  REQUIRE(store.remove(context, {"a", "k"}));
  REQUIRE(store.destroy_context(context));
  std::unique_lock lock(mutex);
  grown.wait(lock, [&] { return told.size() >= 6; });
  using Kind = Change::Kind;
  const std::vector<Change> expected{
      {.kind = Kind::made, .context = context},
      {.kind = Kind::bound, .context = root_context, .name = {"plant", ""}, .binding = context_at(context)},
      {.kind = Kind::bound, .context = context, .name = {"a", "k"}, .binding = object_at("1")},
      {.kind = Kind::rebound, .context = context, .name = {"a", "k"}, .binding = object_at("2")},
      {.kind = Kind::unbound, .context = context, .name = {"a", "k"}, .binding = object_at("2")},
      {.kind = Kind::destroyed, .context = context}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i > 1) CHECK(told[i].revision > told[i - 1].revision);  // the first two may share one
    CHECK(told[i].revision >= 1);
    told[i].revision = 0;
    CHECK(told[i] == expected[i]);
  }
  CHECK(told.size() == expected.size());
}

inline void law_writers_side_by_side(Store& store) {
  constexpr int threads = 4, names = 25;
  std::atomic<int> bound{0};
  {
    std::vector<std::jthread> writers;
    for (int t = 0; t < threads; ++t)
      writers.emplace_back([&store, &bound, t] {
        for (int i = 0; i < names; ++i) {
          if (store.add(root_context, {"shared " + std::to_string(i), ""}, object_at(std::to_string(t)))) ++bound;
          if (!store.add(root_context, {std::to_string(t), std::to_string(i)}, object_at("own"))) bound = -1000;
        }
      });
  }
  CHECK(bound == names);
  CHECK(store.list(root_context, nullptr, 10'000)->size() == names * (threads + 1));
}

inline Binding bound_by(const std::string& client, const std::string& reference = "x") {
  return {.type = BindingType::object, .reference = reference, .bound_by = client};
}

// "" is a privileged client. A name without an owner belongs to everybody.
inline void law_names_have_owners(Store& store) {
  const std::string anna = "user:1", otto = "user:2";
  const ContextId context = store.add_context(root_context, {"plant", ""}, anna).value();
  CHECK(store.find(root_context, {"plant", ""})->bound_by == anna);
  for (const ContextId place : {root_context, context}) {
    REQUIRE(store.add(place, {"a", ""}, bound_by(anna, "1")));
    CHECK(store.find(place, {"a", ""}).value() == bound_by(anna, "1"));
    CHECK(fails_with(store.replace(place, {"a", ""}, bound_by(otto, "2")), StoreFault::not_owner));
    CHECK(fails_with(store.remove(place, {"a", ""}, otto), StoreFault::not_owner));
    CHECK(reference_at(store, place, {"a", ""}) == "1");
    REQUIRE(store.replace(place, {"a", ""}, bound_by(anna, "3")));
    CHECK(store.remove(place, {"a", ""}, anna).value() == bound_by(anna, "3"));
    // A privileged client takes the name over. Then it has no owner, so otto may take it over and become its owner.
    REQUIRE(store.add(place, {"a", ""}, bound_by(anna)));
    REQUIRE(store.replace(place, {"a", ""}, bound_by("", "4")));
    REQUIRE(store.replace(place, {"a", ""}, bound_by(otto, "5")));
    CHECK(fails_with(store.remove(place, {"a", ""}, anna), StoreFault::not_owner));
    REQUIRE(store.remove(place, {"a", ""}));
    CHECK(fails_with(store.remove(place, {"a", ""}, anna), StoreFault::not_found));
  }
  CHECK(fails_with(store.remove(root_context, {"plant", ""}, otto), StoreFault::not_owner));
  CHECK(fails_with(store.destroy_context(context, otto), StoreFault::not_owner));
  REQUIRE(store.add(root_context, {"second", ""}, context_at(context)));  // it has no owner
  CHECK(fails_with(store.destroy_context(context, otto), StoreFault::not_owner));
  CHECK(store.destroy_context(context, anna));
}

inline void law_contexts_have_owners(Store& store) {
  const std::string anna = "user:1", otto = "user:2";
  const ContextId loose = store.make_context().value();
  CHECK(store.destroy_context(loose, otto));
  const ContextId annas = store.add_context(root_context, {"annas", ""}, anna).value();
  Binding also = context_at(annas);
  also.bound_by = otto;
  REQUIRE(store.add(root_context, {"ottos", ""}, also));
  CHECK(fails_with(store.destroy_context(annas, anna), StoreFault::not_owner));
  REQUIRE(store.remove(root_context, {"ottos", ""}, otto));
  CHECK(store.destroy_context(annas, anna));
  const ContextId again = store.add_context(root_context, {"again", ""}, anna).value();
  CHECK(store.destroy_context(again));
}

inline constexpr StoreLaw store_laws[] = {
    {"what was bound is found as it was bound", law_found_as_bound},
    {"a name is bound once", law_bound_once},
    {"a binding is replaced by one of its type", law_replaced},
    {"what was removed is gone, and told", law_removed},
    {"contexts hold names of their own", law_contexts},
    {"a context is destroyed when it is empty, and its number not used again", law_destroyed_empty},
    {"a context is bound where it is there", law_bound_contexts},
    {"in a context that is gone nothing can be done", law_unknown_context},
    {"names are listed in their order, page by page", law_pages},
    {"names and references may be any bytes", law_any_bytes},
    {"names go with their owner", law_owned},
    {"a name that another owner takes over goes with that owner", law_owners_change},
    {"a name is changed by its owner and by who may change all names", law_names_have_owners},
    {"a context is destroyed by the owner of all names that lead there", law_contexts_have_owners},
    {"each change is told once, in order", law_told_of_changes},
    {"of writers side by side one binds a name", law_writers_side_by_side},
};

// For a store with limits of two bindings in a context, three in total, and two contexts besides the root.
inline constexpr StoreLimits tight_limits{.contexts = 2, .bindings = 3, .bindings_per_context = 2, .reference = 4};
inline void check_tight_limits(Store& store) {
  const ContextId context = store.make_context().value();
  REQUIRE(store.add(root_context, {"1", ""}, object_at("x")));
  REQUIRE(store.add(root_context, {"2", ""}, object_at("x")));
  CHECK(fails_with(store.add(root_context, {"3", ""}, object_at("x")), StoreFault::full));
  CHECK(fails_with(store.add_context(root_context, {"3", ""}), StoreFault::full));
  CHECK(store.replace(root_context, {"2", ""}, object_at("y")));
  REQUIRE(store.add_context(context, {"1", ""}));
  CHECK(fails_with(store.replace(context, {"2", ""}, object_at("x")), StoreFault::full));
  CHECK(fails_with(store.make_context(), StoreFault::full));
  REQUIRE(store.remove(root_context, {"1", ""}));
  CHECK(fails_with(store.add(context, {"2", ""}, object_at("12345")), StoreFault::full));
  CHECK(store.add(context, {"2", ""}, object_at("1234")));
  CHECK(fails_with(store.replace(context, {"2", ""}, object_at("12345")), StoreFault::full));
}

// For a store with a limit of two names for each client, except "" and the privileged one.
inline StoreLimits few_of_a_client() { return {.bindings_of_client = 2, .privileged = {"user:0"}}; }
inline void check_limit_of_client(Store& store) {
  for (const char* client : {"user:1", "host:192.0.2.1"}) {
    const std::string name = client;
    REQUIRE(store.add(root_context, {name, "1"}, bound_by(client)));
    const ContextId context = store.add_context(root_context, {name, "2"}, client).value();
    CHECK(fails_with(store.add(root_context, {name, "3"}, bound_by(client)), StoreFault::client_full));
    CHECK(fails_with(store.add(context, {name, "3"}, bound_by(client)), StoreFault::client_full));
    CHECK(fails_with(store.add_context(root_context, {name, "3"}, client), StoreFault::client_full));
    CHECK(fails_with(store.replace(root_context, {name, "3"}, bound_by(client)), StoreFault::client_full));
    CHECK(store.replace(root_context, {name, "1"}, bound_by(client)));
    REQUIRE(store.remove(root_context, {name, "1"}, client));
    CHECK(store.add(root_context, {name, "3"}, bound_by(client)));
    CHECK(fails_with(store.add(root_context, {name, "4"}, bound_by(client)), StoreFault::client_full));
  }
  for (const char* client : {"", "user:0"})
    for (int i = 0; i < 4; ++i) CHECK(store.add(root_context, {client, std::to_string(i)}, bound_by(client)));
  CHECK(fails_with(store.remove(root_context, {"user:0", "1"}, "user:1"), StoreFault::not_owner));
  CHECK(store.remove(root_context, {"user:1", "3"}, "user:0"));
  CHECK(store.add(root_context, {"user:1", "5"}, bound_by("user:1")));
}

// When new contexts are made, the oldest empty contexts without a name are removed. Contexts that have a name, or
// contain names, stay.
inline constexpr StoreLimits few_loose{.contexts = 6, .loose_contexts = 2};
inline void check_loose_contexts(Store& store) {
  const ContextId named = store.add_context(root_context, {"named", ""}).value();
  const ContextId holds = store.make_context().value();
  REQUIRE(store.add(holds, {"1", ""}, object_at("x")));
  const ContextId unnamed = store.add_context(root_context, {"unnamed", ""}).value();
  REQUIRE(store.remove(root_context, {"unnamed", ""}));
  ContextId last = 0, before = 0;
  for (int made = 0; made < 20; ++made) before = std::exchange(last, store.make_context().value());
  CHECK(store.contexts().value() == std::vector<ContextId>{named, holds, before, last});
  CHECK_FALSE(store.has_context(unnamed).value());
  const ContextId inside = store.add_context(before, {"1", ""}).value();  // it would be removed next
  CHECK(store.contexts().value() == std::vector<ContextId>{named, holds, before, last, inside});
}

}  // namespace corelane::nameserver::testing
