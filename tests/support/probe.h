// Probe is an interface whose stub and skeleton are written by hand, in the form that corelane-idl generates. So the
// tests of the runtime do not depend on the compiler.
//
//   module Probing {
//     enum Mode { idle, active };
//     struct Point { double x; string label; sequence<double> samples; };
//     exception Refused { string why; long code; };
//     interface Base { void ping(); };
//     interface Probe : Base {
//       long add(in long a, in long b);
//       double step(in double reading, inout Point state, out Mode mode) raises (Refused);
//       string echo(in string text);
//       oneway void note(in string text);
//       attribute string name;
//       Probe pass(in Probe other);
//       void fail(in long how) raises (Refused);
//       void block();
//       @rt::task(period = "20ms", budget = "100us") long paced(in long number);
//     };
//   };
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "orb/corba/servant.h"
#include "orb/generated.h"

namespace Probing {

enum class Mode : std::uint32_t { idle, active };
inline void encode(::corelane::cdr::Writer& writer, Mode value) { ::corelane::cdr::write_enum(writer, value); }
inline bool decode(::corelane::cdr::Reader& reader, Mode& value) {
  return ::corelane::cdr::read_enum(reader, value, 2);
}

struct Point {
  double x = 0;
  std::string label;
  std::vector<double> samples;
};
inline void encode(::corelane::cdr::Writer& writer, const Point& value) {
  encode(writer, value.x);
  encode(writer, value.label);
  encode(writer, value.samples);
}
inline bool decode(::corelane::cdr::Reader& reader, Point& value) {
  return decode(reader, value.x) && decode(reader, value.label) && decode(reader, value.samples);
}

class Refused : public ::CORBA::UserException {
 public:
  static constexpr const char* _id = "IDL:Probing/Refused:1.0";
  Refused() = default;
  Refused(std::string why, std::int32_t code) : why_(std::move(why)), code_(code) {}
  const std::string& why() const { return why_; }
  std::int32_t code() const { return code_; }
  const char* _rep_id() const noexcept override { return _id; }
  const char* what() const noexcept override { return "Probing::Refused"; }
  void _raise() const override { throw *this; }

 private:
  void _encode(::corelane::cdr::Writer& writer) const override {
    writer.write_string(why_);
    writer.write(code_);
  }
  friend bool decode(::corelane::cdr::Reader& reader, Refused& value) {
    using ::corelane::cdr::decode;
    return decode(reader, value.why_) && decode(reader, value.code_);
  }
  std::string why_;
  std::int32_t code_ = 0;
};

// An exception that is in no raises clause.
class Undeclared : public ::CORBA::UserException {
 public:
  const char* _rep_id() const noexcept override { return "IDL:Probing/Undeclared:1.0"; }
  const char* what() const noexcept override { return "Probing::Undeclared"; }
  void _raise() const override { throw *this; }

 private:
  void _encode(::corelane::cdr::Writer&) const override {}
};

namespace detail {
inline constexpr ::corelane::core::RaisesEntry raises_refused[] = {::corelane::core::raises<Refused>()};
inline constexpr ::corelane::Contract paced_contract{.period = ::corelane::Duration{20'000'000},
                                                     .deadline = ::corelane::Duration{20'000'000},
                                                     .budget = ::corelane::Duration{100'000},
                                                     .jitter = ::corelane::Duration{2'000'000}};
inline constexpr ::corelane::core::Operation ping{.name = "ping"};
inline constexpr ::corelane::core::Operation add{.name = "add"};
inline constexpr ::corelane::core::Operation step{.name = "step", .raises = raises_refused};
inline constexpr ::corelane::core::Operation echo{.name = "echo"};
inline constexpr ::corelane::core::Operation note{.name = "note", .oneway = true};
inline constexpr ::corelane::core::Operation get_name{.name = "_get_name"};
inline constexpr ::corelane::core::Operation set_name{.name = "_set_name"};
inline constexpr ::corelane::core::Operation pass{.name = "pass"};
inline constexpr ::corelane::core::Operation fail{.name = "fail", .raises = raises_refused};
inline constexpr ::corelane::core::Operation block{.name = "block"};
inline constexpr ::corelane::core::Operation paced{.name = "paced"};
inline constexpr ::corelane::core::Operation missing{.name = "missing"};
}  // namespace detail

class Base : public virtual ::CORBA::Object {
 public:
  using _ref_type = ::CORBA::object_reference<Base>;
  static constexpr const char* _id = "IDL:Probing/Base:1.0";
  explicit Base(const ::corelane::core::StubInit& init) : ::CORBA::Object(init) {}
  virtual void ping() {
    ::corelane::core::Invocation _call(*this, detail::ping);
    if (_call.try_local()) return;
    _call.marshal();
    _call.invoke();
    _call.unmarshal();
  }
};

class Probe : public virtual Base {
 public:
  using _ref_type = ::CORBA::object_reference<Probe>;
  static constexpr const char* _id = "IDL:Probing/Probe:1.0";
  explicit Probe(const ::corelane::core::StubInit& init) : ::CORBA::Object(init), Base(init) {}

  virtual std::int32_t add(std::int32_t a, std::int32_t b) { return call<std::int32_t>(detail::add, a, b); }
  virtual double step(double reading, Point& state, Mode& mode) {
    double _result{};
    ::corelane::core::Invocation _call(*this, detail::step);
    if (_call.try_local(_result, reading, state, mode)) return _result;
    _call.marshal(reading, state);
    _call.invoke();
    _call.unmarshal(_result, state, mode);
    return _result;
  }
  virtual std::string echo(const std::string& text) { return call<std::string>(detail::echo, text); }
  virtual void note(const std::string& text) {
    ::corelane::core::Invocation _call(*this, detail::note);
    if (_call.try_local(text)) return;
    _call.marshal(text);
    _call.invoke();
  }
  virtual std::string name() { return call<std::string>(detail::get_name); }
  virtual void name(const std::string& value) { call_void(detail::set_name, value); }
  virtual ::CORBA::object_reference<Probe> pass(::CORBA::object_reference<Probe> other) {
    return call<::CORBA::object_reference<Probe>>(detail::pass, other);
  }
  virtual void fail(std::int32_t how) { call_void(detail::fail, how); }
  virtual void block() { call_void(detail::block); }
  virtual std::int32_t paced(std::int32_t number) { return call<std::int32_t>(detail::paced, number); }
  void missing() { call_void(detail::missing); }  // no servant has it
  // Act as a client whose IDL has one parameter more, or another type.
  void add_too_much() { call<std::int32_t>(detail::add, std::int32_t{1}, std::int32_t{2}, std::int32_t{3}); }
  void echo_a_number() { call<std::string>(detail::echo, std::int32_t{1'000'000}); }

 private:
  template <typename Result, typename... T>
  Result call(const ::corelane::core::Operation& operation, const T&... arguments) {
    Result _result{};
    ::corelane::core::Invocation _call(*this, operation);
    if (_call.try_local(_result, arguments...)) return _result;
    _call.marshal(arguments...);
    _call.invoke();
    _call.unmarshal(_result);
    return _result;
  }
  template <typename... T>
  void call_void(const ::corelane::core::Operation& operation, const T&... arguments) {
    ::corelane::core::Invocation _call(*this, operation);
    if (_call.try_local(arguments...)) return;
    _call.marshal(arguments...);
    _call.invoke();
    _call.unmarshal();
  }
};

}  // namespace Probing

namespace IDL {
template <>
struct traits<::Probing::Base> : ::corelane::core::InterfaceTraits<::Probing::Base> {};
template <>
struct traits<::Probing::Probe> : ::corelane::core::InterfaceTraits<::Probing::Probe> {};
}  // namespace IDL

namespace POA_Probing {

class Probe : public virtual ::PortableServer::ServantBase {
 public:
  using _stub_type = ::Probing::Probe;
  ::CORBA::object_reference<::Probing::Probe> _this() {
    return ::corelane::core::make_stub<::Probing::Probe>(_activated_reference());
  }
  virtual void ping() = 0;
  virtual std::int32_t add(std::int32_t a, std::int32_t b) = 0;
  virtual double step(double reading, ::Probing::Point& state, ::Probing::Mode& mode) = 0;
  virtual std::string echo(const std::string& text) = 0;
  virtual void note(const std::string& text) = 0;
  virtual std::string name() = 0;
  virtual void name(const std::string& value) = 0;
  virtual ::CORBA::object_reference<::Probing::Probe> pass(::CORBA::object_reference<::Probing::Probe> other) = 0;
  virtual void fail(std::int32_t how) = 0;
  virtual void block() = 0;
  virtual std::int32_t paced(std::int32_t number) = 0;

  const ::corelane::core::Skeleton& _skeleton() const noexcept override;
  void* _self() noexcept override { return this; }
};

namespace detail {
using Request = ::corelane::core::ServerRequest;
using Reference = ::CORBA::object_reference<::Probing::Probe>;
inline Probe& self_of(void* self) { return *static_cast<Probe*>(self); }
template <typename T>
T& at(void* const* frame, int index) {
  return *static_cast<T*>(frame[index]);
}

inline constexpr ::corelane::core::Upcall upcalls[] = {
    {.name = "_get_name",
     .remote = [](void* self, Request& r) { r.unmarshal(), r.marshal(self_of(self).name()); },
     .local = [](void* self, void* const* f) { at<std::string>(f, 0) = self_of(self).name(); }},
    {.name = "_set_name",
     .remote =
         [](void* self, Request& r) {
           std::string value;
           r.unmarshal(value);
           self_of(self).name(value);
           r.marshal();
         },
     .local = [](void* self, void* const* f) { self_of(self).name(at<const std::string>(f, 0)); }},
    {.name = "add",
     .remote =
         [](void* self, Request& r) {
           std::int32_t a{}, b{};
           r.unmarshal(a, b);
           r.marshal(self_of(self).add(a, b));
         },
     .local =
         [](void* self, void* const* f) {
           at<std::int32_t>(f, 0) = self_of(self).add(at<const std::int32_t>(f, 1), at<const std::int32_t>(f, 2));
         }},
    {.name = "block",
     .remote = [](void* self, Request& r) { r.unmarshal(), self_of(self).block(), r.marshal(); },
     .local = [](void* self, void* const*) { self_of(self).block(); }},
    {.name = "echo",
     .remote =
         [](void* self, Request& r) {
           std::string text;
           r.unmarshal(text);
           r.marshal(self_of(self).echo(text));
         },
     .local = [](void* self,
                 void* const* f) { at<std::string>(f, 0) = self_of(self).echo(at<const std::string>(f, 1)); }},
    {.name = "fail",
     .remote =
         [](void* self, Request& r) {
           std::int32_t how{};
           r.unmarshal(how);
           self_of(self).fail(how);
           r.marshal();
         },
     .local = [](void* self, void* const* f) { self_of(self).fail(at<const std::int32_t>(f, 0)); },
     .raises = ::Probing::detail::raises_refused},
    {.name = "note",
     .remote =
         [](void* self, Request& r) {
           std::string text;
           r.unmarshal(text);
           self_of(self).note(text);
         },
     .local = [](void* self, void* const* f) { self_of(self).note(at<const std::string>(f, 0)); },
     .oneway = true},
    {.name = "paced",
     .remote =
         [](void* self, Request& r) {
           std::int32_t number{};
           r.unmarshal(number);
           r.marshal(self_of(self).paced(number));
         },
     .local = [](void* self,
                 void* const* f) { at<std::int32_t>(f, 0) = self_of(self).paced(at<const std::int32_t>(f, 1)); },
     .contract = &::Probing::detail::paced_contract},
    {.name = "pass",
     .remote =
         [](void* self, Request& r) {
           Reference other;
           r.unmarshal(other);
           r.marshal(self_of(self).pass(other));
         },
     .local = [](void* self, void* const* f) { at<Reference>(f, 0) = self_of(self).pass(at<const Reference>(f, 1)); }},
    {.name = "ping",
     .remote = [](void* self, Request& r) { r.unmarshal(), self_of(self).ping(), r.marshal(); },
     .local = [](void* self, void* const*) { self_of(self).ping(); }},
    {.name = "step",
     .remote =
         [](void* self, Request& r) {
           double reading{};
           ::Probing::Point state;
           ::Probing::Mode mode{};
           r.unmarshal(reading, state);
           const double result = self_of(self).step(reading, state, mode);
           r.marshal(result, state, mode);
         },
     .local =
         [](void* self, void* const* f) {
           at<double>(f, 0) =
               self_of(self).step(at<double>(f, 1), at<::Probing::Point>(f, 2), at<::Probing::Mode>(f, 3));
         },
     .raises = ::Probing::detail::raises_refused},
};
inline constexpr const char* ids[] = {"IDL:Probing/Probe:1.0", "IDL:Probing/Base:1.0", "IDL:omg.org/CORBA/Object:1.0"};
inline constexpr ::corelane::core::Skeleton skeleton{.ids = ids, .upcalls = upcalls};
}  // namespace detail

inline const ::corelane::core::Skeleton& Probe::_skeleton() const noexcept { return detail::skeleton; }

}  // namespace POA_Probing

namespace CORBA {
template <>
struct servant_traits<::Probing::Probe> : ::corelane::poa::ServantTraits<::POA_Probing::Probe> {};
}  // namespace CORBA
