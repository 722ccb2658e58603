// The servants and values of interop_values.idl on Corelane.
//
// Threads: any. Only the values that a call passes in have state.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "interop_valuesS.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"

namespace interop {

using NodeRef = CORBA::valuetype_reference<InteropValues::Node>;
using BaseRef = CORBA::valuetype_reference<InteropValues::Base>;
using DescribedRef = CORBA::abstractbase_reference<InteropValues::Described>;

inline NodeRef make_node(const std::string& name, NodeRef next = nullptr) {
  return CORBA::make_reference<IDL::traits<InteropValues::Node>::obv_type>(name, std::move(next));
}

inline NodeRef make_circle_of(std::int32_t length) {
  const NodeRef first = make_node("node 0");
  NodeRef last = first;
  for (std::int32_t i = 1; i < length; ++i) {
    const NodeRef added = make_node("node " + std::to_string(i));
    last->next(added);
    last = added;
  }
  last->next(first);
  return first;
}

// Returns the number of nodes up to the first one that was seen before. `stops_at`: the name of that node, or empty.
inline std::int32_t walk_over(const NodeRef& from, std::string& stops_at) {
  std::set<const InteropValues::Node*> seen;
  for (NodeRef at = from; at; at = at->next()) {
    stops_at = at->name();
    if (!seen.insert(at.get()).second) return static_cast<std::int32_t>(seen.size());
  }
  stops_at.clear();
  return static_cast<std::int32_t>(seen.size());
}

class Note : public IDL::traits<InteropValues::Note>::obv_type {
 public:
  explicit Note(const std::string& what = {}) { text(what); }
  std::string describe() override { return "note " + text(); }
};

class NoteFactory : public IDL::traits<InteropValues::Note>::factory_type {
 public:
  CORBA::valuetype_reference<CORBA::ValueBase> create_for_unmarshal() override { return CORBA::make_reference<Note>(); }
};

class Thing : public virtual CORBA::servant_traits<InteropValues::Thing>::base_type {
 public:
  std::string describe() override { return "thing"; }
};

// Registers all factories but that of Hidden.
inline void register_factories(const CORBA::object_reference<CORBA::ORB>& orb) {
  orb->register_value_factory(InteropValues::Node::_id, CORBA::make_reference<InteropValues::Node_init>());
  orb->register_value_factory(InteropValues::Base::_id, CORBA::make_reference<InteropValues::Base_init>());
  orb->register_value_factory(InteropValues::Derived::_id, CORBA::make_reference<InteropValues::Derived_init>());
  orb->register_value_factory(InteropValues::Note::_id, CORBA::make_reference<NoteFactory>());
}

class ExchangeServant : public virtual CORBA::servant_traits<InteropValues::Exchange>::base_type {
 public:
  explicit ExchangeServant(CORBA::object_reference<PortableServer::POA> poa) : poa_(std::move(poa)) {}

  NodeRef swap_node(NodeRef a, NodeRef& b, NodeRef& c) override { return swap(a, b, c); }
  BaseRef swap_base(BaseRef a, BaseRef& b, BaseRef& c) override { return swap(a, b, c); }
  CORBA::valuetype_reference<InteropValues::TextBox> swap_text(
      CORBA::valuetype_reference<InteropValues::TextBox> a, CORBA::valuetype_reference<InteropValues::TextBox>& b,
      CORBA::valuetype_reference<InteropValues::TextBox>& c) override {
    return swap(a, b, c);
  }
  CORBA::valuetype_reference<InteropValues::NumbersBox> swap_numbers(
      CORBA::valuetype_reference<InteropValues::NumbersBox> a, CORBA::valuetype_reference<InteropValues::NumbersBox>& b,
      CORBA::valuetype_reference<InteropValues::NumbersBox>& c) override {
    return swap(a, b, c);
  }
  CORBA::Any swap_any(const CORBA::Any& a, CORBA::Any& b, CORBA::Any& c) override { return swap(a, b, c); }

  bool same(NodeRef a, NodeRef b) override { return a == b; }
  std::int32_t walk(NodeRef a, std::string& stops_at) override {
    const std::int32_t count = walk_over(a, stops_at);
    if (a) a->next(nullptr);  // breaks the circle
    return count;
  }
  std::string type_of(BaseRef a) override {
    return IDL::traits<InteropValues::Hidden>::narrow(a)    ? "Hidden"
           : IDL::traits<InteropValues::Derived>::narrow(a) ? "Derived"
                                                            : "Base";
  }
  BaseRef make_hidden(std::int32_t id, NodeRef& more) override {
    more = make_node("more");
    return CORBA::make_reference<IDL::traits<InteropValues::Hidden>::obv_type>(id, make_node("detail"), "hidden", 0.5,
                                                                               more);
  }
  NodeRef make_circle(std::int32_t length) override {
    static NodeRef last;  // kept, so that the next call can break that circle
    if (last) last->next(nullptr);
    return last = make_circle_of(length);
  }

  DescribedRef pass(DescribedRef a, std::string& said) override {
    said = a ? a->describe() : "nothing";
    return a;
  }
  DescribedRef make_thing() override {
    const auto servant = CORBA::make_reference<Thing>();
    return IDL::traits<InteropValues::Thing>::narrow(poa_->id_to_reference(poa_->activate_object(servant)));
  }
  DescribedRef make_note(const std::string& text) override { return CORBA::make_reference<Note>(text); }

 private:
  template <typename T>
  static T swap(const T& a, T& b, T& c) {
    c = std::exchange(b, a);
    return a;
  }

  const CORBA::object_reference<PortableServer::POA> poa_;
};

}  // namespace interop
