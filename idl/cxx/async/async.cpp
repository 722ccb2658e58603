#include "idl/cxx/async/async.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "idl/cxx/calls/calls.h"
#include "idl/cxx/definitions/interfaces.h"
#include "idl/cxx/spelling/deprecated.h"

namespace corelane::idl::cxx {
namespace {

std::string stub_name(const Spelling& spelling, DefId handler) {
  return "_async_of_" + spelling.model()[interface_of(spelling, handler).replies_of].name;
}

std::string stub_qualified(const Spelling& spelling, DefId handler) {
  const std::string module = spelling.module_of(handler);
  return (module.empty() ? "::" : "::" + module + "::") + stub_name(spelling, handler);
}

bool has_stub(const Spelling& spelling, DefId handler) {
  const DefId served = interface_of(spelling, handler).replies_of;
  return served != DefId::none && !is_abstract_interface(spelling, served);
}

// Returns those of `bases` that are handlers of interfaces with asynchronous stubs.
std::vector<DefId> base_handlers(const Spelling& spelling, const std::vector<DefId>& bases) {
  std::vector<DefId> out = bases;
  std::erase_if(out, [&](DefId base) { return !has_stub(spelling, base); });
  return out;
}

// The two operations of a handler for a call. The key is the interface that declares the call, and the call's name on
// the wire.
using Replies = std::map<std::pair<DefId, std::string>, std::pair<Call, Call>>;

// Returns the operations of this handler and all its bases, each pair with the call to which it belongs. calls_of() of
// a handler lists two operations for each call, in the order of the calls.
Replies replies_of(const Spelling& spelling, DefId handler) {
  std::vector<DefId> handlers = construction_order(spelling.model(), handler);
  handlers.push_back(handler);
  Replies out;
  for (const DefId one : handlers) {
    const DefId served = interface_of(spelling, one).replies_of;
    if (served == DefId::none) continue;
    const std::vector<Call> replies = calls_of(spelling, one), calls = calls_of(spelling, served);
    for (std::size_t i = 0; i < calls.size(); ++i)
      out.try_emplace({served, calls[i].wire_name}, replies[2 * i], replies[2 * i + 1]);
  }
  return out;
}

// Returns the parameters of a sendc_ function: the handler, then the arguments that go to the servant.
std::vector<std::string> parameters_of(const Spelling& spelling, DefId handler, const Call& call) {
  Call sent = call;
  std::erase_if(sent.arguments, [](const Argument& argument) { return argument.direction == Direction::out; });
  for (Argument& argument : sent.arguments) argument.direction = Direction::in;
  std::vector<std::string> out = parameters(spelling, sent);
  out.insert(out.begin(), fill("const ::CORBA::object_reference<$0>&$1",
                               {spelling.qualified(handler), call.oneway ? "" : " _handler"}));
  return out;
}

void write_reply(const Spelling& spelling, DefId handler, const Send& send, Text& out) {
  const Call& call = send.call;
  out.open("_call.send(_handler, []($0& _to, ::corelane::core::AsyncReply& _reply) {", {spelling.qualified(handler)});
  std::vector<std::string> back;
  const auto declare = [&](TypeId type, const std::string& name) {
    out.line("$0 $1$2;", {spelling.type(type), name, spelling.initial(type)});
    back.push_back(name);
  };
  if (call.returns()) declare(call.result, "_result");
  for (const Argument& argument : call.arguments)
    if (argument.direction != Direction::in) declare(argument.type, "_out_" + argument.name);
  out.list("if (!_reply.unmarshal(", back, fill(")) return _to.$0(::Messaging::hold(_reply));", {send.failure}));
  out.list(fill("_to.$0(", {send.reply}), back, ");");
  out.close("});");
}

void define_send(const Spelling& spelling, DefId handler, const Send& send, Text& out) {
  const Call& call = send.call;
  out.list(fill("void $0::$1(", {stub_name(spelling, handler), send.name}), parameters_of(spelling, handler, call),
           ") {");
  out.indent();
  out.line("::corelane::core::AsyncInvocation _call(*this, _async_calls_of_$0::$1_operation);",
           {spelling.model()[interface_of(spelling, handler).replies_of].name, internal_name(call)});
  std::vector<std::string> arguments = sent(call);
  if (call.has_context) arguments.push_back("std::vector<std::string>{}");
  if (!arguments.empty()) out.list("_call.marshal(", arguments, ");");
  if (call.oneway)
    out.line("_call.send(nullptr);");
  else
    write_reply(spelling, handler, send, out);
  out.close("}\n");
}

// Returns the initializers of all virtual bases, in the order of their construction.
std::vector<std::string> initialisers(const Spelling& spelling, DefId handler) {
  const DefId served = interface_of(spelling, handler).replies_of;
  std::vector<std::string> out = base_initialisers(spelling, served);
  out.push_back(spelling.qualified(served) + "(_init)");
  for (const DefId base : base_handlers(spelling, construction_order(spelling.model(), handler)))
    out.push_back(stub_qualified(spelling, base) + "(_init)");
  return out;
}

}  // namespace

std::vector<Send> sends_of(const Spelling& spelling, DefId handler) {
  if (!has_stub(spelling, handler)) return {};
  const DefId served = interface_of(spelling, handler).replies_of;
  std::set<std::string> taken;
  for (const Call& call : all_calls_of(spelling, served)) taken.insert({call.wire_name, call.name});
  const Replies replies = replies_of(spelling, handler);
  std::vector<Send> out;
  for (const Call& call : class_calls_of(spelling, served)) {
    const auto& [reply, failure] = replies.at({call.declared_in, call.wire_name});
    out.push_back({free_name("sendc_", reply.wire_name, taken), call, reply.name, failure.name});
  }
  return out;
}

void declare_async_stub(const Spelling& spelling, DefId handler, Text& out) {
  if (!has_stub(spelling, handler)) return;
  const DefId served = interface_of(spelling, handler).replies_of;
  const std::string name = stub_name(spelling, handler);
  std::vector<std::string> bases = {"public virtual " + spelling.qualified(served)};
  for (const DefId base : base_handlers(spelling, interface_of(spelling, handler).bases))
    bases.push_back("public virtual " + stub_qualified(spelling, base));
  out.line();
  out.list(fill("class $0 : ", {name}), bases, " {");
  out.indent();
  out.label("public:");
  out.line("using _ref_type = ::CORBA::object_reference<$0>;", {name});
  out.line("static constexpr const char* _id = $0::_id;", {spelling.qualified(served)});
  out.list(fill("explicit $0(const ::corelane::core::StubInit& _init) : ", {name}), initialisers(spelling, handler),
           " {}");
  const std::vector<Send> sends = sends_of(spelling, handler);
  if (!sends.empty()) out.line();
  for (const Send& send : sends) {
    write_attribute(send.call.attribute, out);
    out.list(fill("void $0(", {send.name}), parameters_of(spelling, handler, send.call), ");");
  }
  out.close("};");
}

void define_async_stub(const Spelling& spelling, DefId handler, Text& out) {
  const std::vector<Send> sends = sends_of(spelling, handler);
  if (sends.empty()) return;
  std::vector<Call> calls;
  for (const Send& send : sends) calls.push_back(send.call);
  const DefId served = interface_of(spelling, handler).replies_of;
  define_operations(spelling, "_async_calls_of_" + spelling.model()[served].name, calls, out);
  for (const Send& send : sends) define_send(spelling, handler, send, out);
}

void write_async_traits(const Spelling& spelling, DefId interface_id, Text& out) {
  if (!has_stub(spelling, interface_id)) return;
  const DefId served = interface_of(spelling, interface_id).replies_of;
  out.line("template <>");
  out.list(fill("struct amic_traits<$0> : ::IDL::async_traits<", {spelling.qualified(served)}),
           {stub_qualified(spelling, interface_id), spelling.qualified(interface_id)}, "> {};");
}

}  // namespace corelane::idl::cxx
