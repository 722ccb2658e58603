// Checks that the omniORB client makes of a server of interop_values.idl. A check that fails says what differed.
#pragma once

#include <stdexcept>
#include <string>

#include "omni_exchange.h"

namespace interop {

using InteropValues::Base_var, InteropValues::Described_var, InteropValues::Exchange_ptr;
using InteropValues::Numbers, InteropValues::NumbersBox_var, InteropValues::TextBox_var;

inline void require_that(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}
#define REQUIRE_THAT(condition) interop::require_that((condition), #condition)

inline void check_sharing(Exchange_ptr exchange) {
  Node_var second = make_node("b");
  Node_var node = make_node("a", second);
  Node_var other = make_node("a");
  REQUIRE_THAT(exchange->same(node, node));
  REQUIRE_THAT(!exchange->same(node, other));
  REQUIRE_THAT(exchange->same(nullptr, nullptr));
  Node_var b, c;
  Node_var result = exchange->swap_node(node, b.inout(), c.out());
  REQUIRE_THAT(std::string(result->next()->name()) == "b");
  REQUIRE_THAT(result.in() == b.in());
  REQUIRE_THAT(c.in() == nullptr);
}

inline void check_circles(Exchange_ptr exchange) {
  Node_var circle = make_circle_of(5);
  CORBA::String_var stops_at;
  REQUIRE_THAT(exchange->walk(circle, stops_at.out()) == 5);
  REQUIRE_THAT(std::string(stops_at) == "node 0");
  circle->next(nullptr);
  Node_var made = exchange->make_circle(4);
  std::string name;
  REQUIRE_THAT(walk_over(made, name) == 4);
  made->next(nullptr);
}

inline void check_truncation(Exchange_ptr exchange) {
  Node_var detail = make_node("detail");
  Node_var beyond = make_node("more");
  Base_var derived = set_up(new OBV_InteropValues::Derived, 7, "text", detail.in());
  Base_var b = new OBV_InteropValues::Base(1), c;
  Base_var result = exchange->swap_base(derived, b.inout(), c.out());
  Derived* as_derived = Derived::_downcast(result);
  REQUIRE_THAT(as_derived != nullptr);
  REQUIRE_THAT(std::string(as_derived->detail()->name()) == "detail");
  REQUIRE_THAT(c->id() == 1);
  REQUIRE_THAT(std::string(CORBA::String_var(exchange->type_of(derived))) == "Derived");
  Base_var hidden = make_hidden_of(7, "text", detail.in(), beyond.in());
  REQUIRE_THAT(std::string(CORBA::String_var(exchange->type_of(hidden))) == "Derived");
  Node_var more;
  Base_var cut = exchange->make_hidden(9, more.out());
  REQUIRE_THAT(cut->id() == 9);
  REQUIRE_THAT(Derived::_downcast(cut) != nullptr);
  REQUIRE_THAT(std::string(Derived::_downcast(cut)->text()) == "hidden");
  REQUIRE_THAT(std::string(more->name()) == "more");
}

inline void check_boxes(Exchange_ptr exchange) {
  TextBox_var a = new TextBox("a"), b = new TextBox("b"), c;
  TextBox_var result = exchange->swap_text(a, b.inout(), c.out());
  REQUIRE_THAT(std::string(result->_value()) == "a");
  REQUIRE_THAT(std::string(c->_value()) == "b");
  Numbers some;
  some.length(2);
  some[0] = 1;
  some[1] = -2;
  NumbersBox_var numbers = new NumbersBox(some), nothing, old;
  NumbersBox_var same = exchange->swap_numbers(numbers, nothing.inout(), old.out());
  REQUIRE_THAT(same->_value().length() == 2 && same->_value()[1] == -2);
  REQUIRE_THAT(old.in() == nullptr);
}

// The values have no chunks: omniORB 4.2 fails one of its own assertions if a value in an Any has chunks.
inline void check_values_in_anys(Exchange_ptr exchange) {
  Node_var second = make_node("second");
  Node_var node = make_node("node", second);
  TextBox_var box = new TextBox("boxed");
  CORBA::Any a, b;
  a <<= node.in();
  b <<= box.in();
  CORBA::Any_var c;
  CORBA::Any_var result = exchange->swap_any(a, b, c.out());
  Node* out = nullptr;
  REQUIRE_THAT(result.in() >>= out);
  REQUIRE_THAT(std::string(out->next()->name()) == "second");
  TextBox* box_out = nullptr;
  REQUIRE_THAT(c.in() >>= box_out);
  REQUIRE_THAT(std::string(box_out->_value()) == "boxed");
}

inline std::string describe(Described_ptr described) { return std::string(CORBA::String_var(described->describe())); }

inline void check_abstract(Exchange_ptr exchange) {
  Described_var thing = exchange->make_thing();
  REQUIRE_THAT(describe(thing) == "thing");
  Described_var note = exchange->make_note("x");
  REQUIRE_THAT(describe(note) == "note x");
  CORBA::String_var said;
  OmniNote* own = new OmniNote("y");
  Described_var returned = exchange->pass(own, said.out());
  REQUIRE_THAT(describe(returned) == "note y");
  REQUIRE_THAT(std::string(said) == "note y");
  Described_var again = exchange->pass(thing, said.out());
  REQUIRE_THAT(describe(again) == "thing");
  REQUIRE_THAT(std::string(said) == "thing");
  CORBA::remove_ref(own);
}

}  // namespace interop
