// Checks that a Corelane client makes of any server of interop_values.idl.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/interop/exchange_servant.h"

namespace interop {

using ExchangeRef = CORBA::object_reference<InteropValues::Exchange>;

inline void check_sharing(const ExchangeRef& exchange) {
  const NodeRef node = make_node("a", make_node("b"));
  CHECK(exchange->same(node, node));
  CHECK_FALSE(exchange->same(node, make_node("a")));
  CHECK(exchange->same(nullptr, nullptr));
  NodeRef b, c = node;
  const NodeRef result = exchange->swap_node(node, b, c);
  CHECK(result->next()->name() == "b");
  CHECK(result == b);
  CHECK(c == nullptr);
}

inline void check_circles(const ExchangeRef& exchange) {
  const NodeRef circle = make_circle_of(5);
  std::string stops_at;
  CHECK(exchange->walk(circle, stops_at) == 5);
  CHECK(stops_at == "node 0");
  circle->next(nullptr);
  CHECK(exchange->walk(nullptr, stops_at) == 0);
  const NodeRef made = exchange->make_circle(4);
  CHECK(walk_over(made, stops_at) == 4);
  made->next(nullptr);
}

inline void check_truncation(const ExchangeRef& exchange) {
  const BaseRef derived =
      CORBA::make_reference<IDL::traits<InteropValues::Derived>::obv_type>(7, make_node("detail"), "text");
  BaseRef b = CORBA::make_reference<IDL::traits<InteropValues::Base>::obv_type>(1), c;
  const auto result = IDL::traits<InteropValues::Derived>::narrow(exchange->swap_base(derived, b, c));
  REQUIRE(result);
  CHECK(result->detail()->name() == "detail");
  CHECK(c->id() == 1);
  CHECK(exchange->type_of(derived) == "Derived");
  CHECK(exchange->type_of(c) == "Base");
  const BaseRef hidden = CORBA::make_reference<IDL::traits<InteropValues::Hidden>::obv_type>(
      7, make_node("detail"), "text", 0.5, make_node("more"));
  CHECK(exchange->type_of(hidden) == "Derived");
  NodeRef more;
  const auto cut = IDL::traits<InteropValues::Derived>::narrow(exchange->make_hidden(9, more));
  REQUIRE(cut);
  CHECK(cut->id() == 9);
  CHECK(cut->text() == "hidden");
  CHECK(cut->detail()->name() == "detail");
  CHECK(more->name() == "more");
}

inline void check_boxes(const ExchangeRef& exchange) {
  using InteropValues::NumbersBox, InteropValues::TextBox;
  CORBA::valuetype_reference<TextBox> text = CORBA::make_reference<TextBox>("b"), old_text;
  CHECK(exchange->swap_text(CORBA::make_reference<TextBox>("a"), text, old_text)->_value() == "a");
  CHECK(text->_value() == "a");
  CHECK(old_text->_value() == "b");
  CORBA::valuetype_reference<NumbersBox> numbers, old_numbers = CORBA::make_reference<NumbersBox>();
  const std::vector<std::int32_t> some = {1, -2, 3};
  CHECK(exchange->swap_numbers(CORBA::make_reference<NumbersBox>(some), numbers, old_numbers)->_value() == some);
  CHECK(old_numbers == nullptr);
}

// The values have no chunks: omniORB 4.2 fails one of its own assertions if a value in an Any has chunks.
inline void check_values_in_anys(const ExchangeRef& exchange) {
  CORBA::Any a, b, c;
  a <<= make_node("node", make_node("second"));
  b <<= CORBA::make_reference<InteropValues::TextBox>("boxed");
  NodeRef out;
  REQUIRE((exchange->swap_any(a, b, c) >>= out));
  CHECK(out->next()->name() == "second");
  CORBA::valuetype_reference<InteropValues::TextBox> box;
  REQUIRE((c >>= box));
  CHECK(box->_value() == "boxed");
}

inline void check_abstract(const ExchangeRef& exchange, const CORBA::object_reference<PortableServer::POA>& poa) {
  const DescribedRef thing = exchange->make_thing();
  CHECK(thing->describe() == "thing");
  CHECK(thing->_to_value() == nullptr);
  CHECK(IDL::traits<InteropValues::Thing>::narrow(thing->_to_object())->describe() == "thing");
  const DescribedRef note = exchange->make_note("x");
  CHECK(note->describe() == "note x");
  CHECK(note->_to_object() == nullptr);
  CHECK(IDL::traits<InteropValues::Note>::narrow(note->_to_value())->text() == "x");

  std::string said;
  CHECK(exchange->pass(CORBA::make_reference<Note>("y"), said)->describe() == "note y");
  CHECK(said == "note y");
  const auto servant = CORBA::make_reference<Thing>();
  const auto own = IDL::traits<InteropValues::Thing>::narrow(poa->id_to_reference(poa->activate_object(servant)));
  CHECK(exchange->pass(own, said)->_to_object()->_is_equivalent(own));
  CHECK(said == "thing");
  CHECK(exchange->pass(nullptr, said) == nullptr);
  CHECK(said == "nothing");
}

}  // namespace interop
