// What the tests of values.idl share: servants, factories and values.
#pragma once

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/core/client/reference.h"
#include "tests/support/bytes/round_trip.h"
#include "valuesS.h"

namespace corelane::test {

using NodeRef = CORBA::valuetype_reference<Values::Node>;
using BaseRef = CORBA::valuetype_reference<Values::Base>;
using ValueRef = CORBA::valuetype_reference<CORBA::ValueBase>;

class Square : public IDL::traits<Values::Square>::obv_type {
 public:
  double area() override { return side() * side(); }
  std::string label() override { return "square"; }
  void label(const std::string&) override {}
};

class SquareFactory : public IDL::traits<Values::Square>::factory_type {
 public:
  CORBA::valuetype_reference<Values::Square> make(double side) override {
    auto made = CORBA::make_reference<Square>();
    made->side(side);
    return made;
  }
  ValueRef create_for_unmarshal() override { return CORBA::make_reference<Square>(); }
};

// Writes its members in reverse order, with a value between them.
class Packed : public IDL::traits<Values::Packed>::obv_type {
 public:
  void marshal(CORBA::DataOutputStream::_ref_type stream) override {
    stream->write_string(text());
    stream->write_Value(inner);
    stream->write_octet_array({1, 2, 3}, 1, 2);
    stream->write_long(number());
  }
  void unmarshal(CORBA::DataInputStream::_ref_type stream) override {
    text(stream->read_string());
    inner = stream->read_Value();
    std::vector<std::uint8_t> octets;
    stream->read_octet_array(octets, 0, 2);
    number(stream->read_long());
    whole = octets == std::vector<std::uint8_t>{2, 3};
    kept = stream;
  }
  void _let_go() override { inner = nullptr; }

  ValueRef inner;
  bool whole = false;
  CORBA::DataInputStream::_ref_type kept;
};

class PackedFactory : public IDL::traits<Values::Packed>::factory_type {
 public:
  ValueRef create_for_unmarshal() override { return CORBA::make_reference<Packed>(); }
};

// The two kinds of Described: one is a value, the other an object.
class Note : public IDL::traits<Values::Note>::obv_type {
 public:
  explicit Note(const std::string& what = {}) { text(what); }
  std::string describe(const std::string& how) override { return how + " note " + text(); }
  std::int32_t mark() override { return 1; }
  void mark(std::int32_t) override {}
  std::int32_t weight() override { return 2; }
};

class NoteFactory : public IDL::traits<Values::Note>::factory_type {
 public:
  ValueRef create_for_unmarshal() override { return CORBA::make_reference<Note>(); }
};

class Better : public virtual CORBA::servant_traits<Values::Better>::base_type {
 public:
  std::string describe(const std::string& how) override {
    if (how.empty()) throw Values::Refused(nullptr);
    return how + " object";
  }
  std::int32_t mark() override { return mark_; }
  void mark(std::int32_t value) override { mark_ = value; }
  std::int32_t weight() override { return 3; }
  void drop() override {}
  std::string more() override { return "more"; }

 private:
  std::int32_t mark_ = 0;
};

class Service : public virtual CORBA::servant_traits<Values::Service>::base_type {
 public:
  NodeRef head() override { return head_; }
  void head(NodeRef value) override { head_ = value; }
  NodeRef swap(NodeRef a, NodeRef& b, NodeRef& c) override {
    if (!a) throw Values::Refused(CORBA::make_reference<IDL::traits<Values::Base>::obv_type>(4));
    c = b;
    b = a;
    return a;
  }
  Values::Holder hold(const Values::Holder& value, std::int32_t) override { return value; }
  CORBA::abstractbase_reference<Values::Described> pass(CORBA::abstractbase_reference<Values::Described> a,
                                                        CORBA::abstractbase_reference<Values::Described>&,
                                                        CORBA::abstractbase_reference<Values::Weighed>& c) override {
    c = IDL::traits<Values::Weighed>::narrow(a);
    return a;
  }
  CORBA::Any wrap(const CORBA::Any& value) override { return value; }

 private:
  NodeRef head_;
};

// An ORB with servants.
class Server {
 public:
  Server() {
    char name[] = "values", ledger[] = "-ORBRuntimeLedger", off[] = "off";
    char* arguments[] = {name, ledger, off, nullptr};
    int count = 3;
    orb = CORBA::ORB_init(count, arguments, "values");
    poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
  }
  ~Server() { orb->destroy(); }

  template <typename Interface, typename Servant>
  CORBA::object_reference<Interface> activate() {
    return IDL::traits<Interface>::narrow(poa->id_to_reference(poa->activate_object(CORBA::make_reference<Servant>())));
  }

  CORBA::object_reference<CORBA::ORB> orb;
  CORBA::object_reference<PortableServer::POA> poa;
};

template <typename Factory>
void add_factory() {
  const auto factory = CORBA::make_reference<Factory>();
  corelane::any::register_factory(factory->_obv_repository_id(), factory.shared());
}

// Registers all factories while it lives.
struct Factories {
  Factories() {
    add_factory<Values::Node_init>();
    add_factory<Values::Base_init>();
    add_factory<Values::Middle_init>();
    add_factory<Values::Leaf_init>();
    add_factory<Values::Plain_init>();
    add_factory<SquareFactory>();
    add_factory<PackedFactory>();
    add_factory<NoteFactory>();
  }
  ~Factories() {
    for (const char* id : {Values::Node::_id, Values::Base::_id, Values::Middle::_id, Values::Leaf::_id,
                           Values::Plain::_id, Values::Square::_id, Values::Packed::_id, Values::Note::_id})
      corelane::any::unregister_factory(id);
  }
};

inline NodeRef node(const std::string& name, NodeRef next = nullptr) {
  return CORBA::make_reference<IDL::traits<Values::Node>::obv_type>(name, next, Values::Nodes{}, 7);
}

inline BaseRef leaf(std::int32_t id, BaseRef inner = nullptr) {
  return CORBA::make_reference<IDL::traits<Values::Leaf>::obv_type>(id, "text", 0.5, inner);
}

// A circle of `count` nodes. Its destructor breaks the circle.
class Circle {
 public:
  explicit Circle(int count) : first(node("first")) {
    NodeRef last = first;
    for (int i = 1; i < count; ++i) {
      const NodeRef added = node("more");
      last->next(added);
      last = added;
    }
    last->next(first);
  }
  explicit Circle(NodeRef of) : first(std::move(of)) {}
  ~Circle() {
    if (first) first->next(nullptr);
  }
  NodeRef first;
};

inline std::uint32_t refusal(const std::vector<std::byte>& bytes, ByteOrder order) {
  cdr::Reader reader(bytes, order);
  BaseRef out;
  return decode(reader, out) ? 0 : reader.minor();
}

}  // namespace corelane::test
