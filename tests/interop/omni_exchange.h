// The servants and values of interop_values.idl on omniORB. A program never links both this and Corelane.
#pragma once

#include <interop_values.hh>
#include <set>
#include <string>

namespace interop {

using InteropValues::Base, InteropValues::Derived, InteropValues::Described, InteropValues::Hidden;
using InteropValues::Base_init, InteropValues::Derived_init, InteropValues::Node_init;
using InteropValues::Base_out, InteropValues::Described_ptr, InteropValues::Node_out, InteropValues::NumbersBox_out;
using InteropValues::Node, InteropValues::Note, InteropValues::NumbersBox, InteropValues::TextBox;
using InteropValues::Node_var, InteropValues::TextBox_out;

// Constructors of values take ownership of the references that they are given.
template <typename T>
T* kept(T* value) {
  CORBA::add_ref(value);
  return value;
}

inline Node* make_node(const char* name, Node* next = nullptr) { return new OBV_InteropValues::Node(name, kept(next)); }

// Sets members one by one, because omniORB's constructors lose those of bases.
inline Derived* set_up(Derived* made, CORBA::Long id, const char* text, Node* detail) {
  made->id(id);
  made->text(text);
  made->detail(detail);
  return made;
}
inline Hidden* make_hidden_of(CORBA::Long id, const char* text, Node* detail, Node* more) {
  Hidden* made = new OBV_InteropValues::Hidden;
  set_up(made, id, text, detail);
  made->weight(0.5);
  made->more(more);
  return made;
}

inline Node* make_circle_of(CORBA::Long length) {
  Node* first = make_node("node 0");
  Node* last = first;
  for (CORBA::Long i = 1; i < length; ++i) {
    Node* added = make_node(("node " + std::to_string(i)).c_str());
    last->next(added);
    CORBA::remove_ref(added);
    last = added;
  }
  last->next(first);
  return first;
}

inline CORBA::Long walk_over(Node* from, std::string& stops_at) {
  std::set<Node*> seen;
  stops_at.clear();
  for (Node* at = from; at != nullptr; at = at->next())
    if (!seen.insert(at).second) {
      stops_at = at->name();
      break;
    }
  return static_cast<CORBA::Long>(seen.size());
}

class OmniNote : public virtual OBV_InteropValues::Note, public virtual CORBA::DefaultValueRefCountBase {
 public:
  explicit OmniNote(const char* what = "") { text(what); }
  char* describe() override { return CORBA::string_dup((std::string("note ") + text()).c_str()); }
};

class OmniNoteFactory : public CORBA::ValueFactoryBase {
 public:
  CORBA::ValueBase* create_for_unmarshal() override { return new OmniNote; }
};

class OmniThing : public POA_InteropValues::Thing {
 public:
  char* describe() override { return CORBA::string_dup("thing"); }
};

inline void register_factory(CORBA::ORB_ptr orb, const char* id, CORBA::ValueFactory factory) {
  CORBA::ValueFactory old = orb->register_value_factory(id, factory);
  if (old != nullptr) old->_remove_ref();
  factory->_remove_ref();
}

// Registers all factories but that of Hidden.
inline void register_factories(CORBA::ORB_ptr orb) {
  register_factory(orb, Node::_PD_repoId, new Node_init);
  register_factory(orb, Base::_PD_repoId, new Base_init);
  register_factory(orb, Derived::_PD_repoId, new Derived_init);
  register_factory(orb, Note::_PD_repoId, new OmniNoteFactory);
}

class OmniExchange : public POA_InteropValues::Exchange {
 public:
  Node* swap_node(Node* a, Node*& b, Node_out c) override { return swap(a, b, c); }
  Base* swap_base(Base* a, Base*& b, Base_out c) override { return swap(a, b, c); }
  TextBox* swap_text(TextBox* a, TextBox*& b, TextBox_out c) override { return swap(a, b, c); }
  NumbersBox* swap_numbers(NumbersBox* a, NumbersBox*& b, NumbersBox_out c) override { return swap(a, b, c); }
  CORBA::Any* swap_any(const CORBA::Any& a, CORBA::Any& b, CORBA::Any_OUT_arg c) override {
    c = new CORBA::Any(b);
    b = a;
    return new CORBA::Any(a);
  }

  CORBA::Boolean same(Node* a, Node* b) override { return a == b; }
  CORBA::Long walk(Node* a, CORBA::String_out stops_at) override {
    std::string name;
    const CORBA::Long count = walk_over(a, name);
    if (a != nullptr) a->next(nullptr);
    stops_at = CORBA::string_dup(name.c_str());
    return count;
  }
  char* type_of(Base* a) override {
    return CORBA::string_dup(Hidden::_downcast(a) != nullptr    ? "Hidden"
                             : Derived::_downcast(a) != nullptr ? "Derived"
                                                                : "Base");
  }
  Base* make_hidden(CORBA::Long id, Node_out more) override {
    Node* shared = make_node("more");
    more = shared;
    const Node_var detail = make_node("detail");
    return make_hidden_of(id, "hidden", detail.in(), shared);
  }
  Node* make_circle(CORBA::Long length) override { return make_circle_of(length); }

  Described_ptr pass(Described_ptr a, CORBA::String_out said) override {
    said = CORBA::is_nil(a) ? CORBA::string_dup("nothing") : a->describe();
    return Described::_duplicate(a);
  }
  Described_ptr make_thing() override {
    OmniThing* servant = new OmniThing;
    const PortableServer::ObjectId_var id = PortableServer::POA_var(_default_POA())->activate_object(servant);
    servant->_remove_ref();
    return servant->_this();
  }
  Described_ptr make_note(const char* text) override { return new OmniNote(text); }

 private:
  template <typename T, typename Out>
  static T* swap(T* a, T*& b, Out& c) {
    c = b;
    CORBA::add_ref(a);
    CORBA::add_ref(a);
    b = a;
    return a;
  }
};

}  // namespace interop
