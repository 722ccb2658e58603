// Uses of what deprecated.idl marks. deprecated.py compiles this, and expects a warning in the lines with `WARNS: text`
// and in no other line.
#include <string>

#include "deprecatedAmiC.h"
#include "deprecatedS.h"
#include "deprecated_userS.h"

namespace {

using Deprecated::Choice;
using Deprecated::Open;
using Deprecated::Partly;
using Deprecated::Service;
using Deprecated::State;

std::int32_t members(Partly& value) {
  value.size(1);
  value.length(1);        // WARNS: use size
  return value.length();  // WARNS: use size
}

std::int32_t public_members(Open& value) {
  value.a = "x";  // WARNS: use b
  Open copy = value;
  return copy.b;
}

std::int32_t branches(Choice& value) {
  value.a(1);                     // WARNS: use 3
  value.b("x", 4);                // WARNS:
  return value._d() + value.a();  // WARNS: use 3
}

void types() {
  Deprecated::Old old;  // WARNS:
  static_cast<void>(old);
  Deprecated::Quoted quoted;  // WARNS: use "New", or $0
  static_cast<void>(quoted);
  Deprecated::OldChoice choice;  // WARNS:
  static_cast<void>(choice);
  Deprecated::Gone gone;  // WARNS:
  static_cast<void>(gone);
  DeprecatedUser::Holder holder;
  static_cast<void>(holder.old());
}

void calls(Service& service, Partly& partly, Open& open, Choice& choice) {
  service.g(partly, {}, open);
  service.f({}, choice);           // WARNS: use g
  service.total(service.count());  // WARNS: use count
  service.count(service.count());
  static_cast<void>(service.title());  // WARNS:
  service.inherited();                 // WARNS:
}

void asynchronous(const CORBA::amic_traits<Service>::ref_type& stub, const Open& open) {
  stub->sendc_g(nullptr, {}, {}, open);
  stub->sendc_f(nullptr, {});  // WARNS: use g
}

void interfaces(const IDL::traits<Deprecated::OldService>::ref_type& old) {  // WARNS: use Service
  old->count(1);
  old->note({});  // WARNS:
}

std::int32_t values(State& state) {
  state.a(1);                           // WARNS:
  state.f();                            // WARNS:
  return state.b().size() > 0 ? 1 : 0;  // WARNS:
}

// A class that implements deprecated functions gets no warning.
class Implementation : public CORBA::servant_traits<Service>::base_type {
 public:
  std::int32_t f(const Partly&, Choice&) override { return 0; }
  std::int32_t g(Partly&, const Deprecated::Olds&, const Open&) override { return 0; }
  std::int32_t total() override { return 0; }
  void total(std::int32_t) override {}
  std::string title() override { return {}; }
  std::int32_t count() override { return 0; }
  void count(std::int32_t) override {}
  void inherited() override {}
};

}  // namespace
