// Writes fooS.cpp: the upcalls of each interface, its own and inherited ones, as tables sorted by the name on the wire.
#include <algorithm>

#include "idl/cxx/calls/call_text.h"
#include "idl/cxx/calls/calls.h"
#include "idl/cxx/files/emit.h"
#include "idl/cxx/spelling/layout.h"
#include "idl/cxx/spelling/literals.h"

namespace corelane::idl::cxx {
namespace {

// Returns the call of the servant's function. C++ would take an inherited operation with the name of the class for its
// constructor, so such a call goes through the base.
std::string self_call(const Spelling& spelling, DefId id, const Call& call) {
  const std::string servant = spelling.skeleton_name(id);
  if (call.name != servant) return fill("static_cast<$0*>(_self)->$1(", {servant, call.name});
  return fill("static_cast<$0*>(static_cast<$1*>(_self))->$2(",
              {spelling.skeleton_qualified(class_of(spelling.model(), id, call)), servant, call.name});
}

// Writes the function for a request from the wire. The arguments are local variables. Large ones are on the heap,
// because the stack of a task's thread is small. The result is not constant, because marshal() may take it over.
void write_remote(const Spelling& spelling, DefId id, const Call& call, Text& out) {
  out.open("void $0_remote(void* _self, ::corelane::core::ServerRequest& _request) {", {internal_name(call)});
  std::vector<std::string> arguments;
  for (const auto& [name, type, direction] : call.arguments) {
    if (spelling.is_large(type)) {
      out.line("const std::unique_ptr<$0> _$1_held(new $0$2);", {spelling.type(type), name, spelling.initial(type)});
      out.line("$0& $1 = *_$1_held;", {spelling.type(type), name});
    } else {
      out.line("$0 $1$2;", {spelling.type(type), name, spelling.initial(type)});
    }
    const bool moves = direction == Direction::in && spelling.is_reference(type);
    arguments.push_back(moves ? "std::move(" + name + ")" : name);
  }
  std::vector<std::string> received = sent(call);
  if (call.has_context) {
    out.line("std::vector<std::string> _context;");
    received.push_back("_context");
  }
  out.list("_request.unmarshal(", received, ");");
  std::vector<std::string> back = returned(call);
  if (call.returns()) back.insert(back.begin(), "_result");
  if (call.returns() && spelling.is_large(call.result)) {
    out.list(fill("const std::unique_ptr<const $0> _returned(new $0(", {spelling.type(call.result)}) +
                 self_call(spelling, id, call),
             arguments, ")));");
    out.line("const auto& _result = *_returned;");
  } else {
    out.list((call.returns() ? "auto _result = " : "") + self_call(spelling, id, call), arguments, ");");
  }
  if (!call.oneway) out.list("_request.marshal(", back, ");");
  out.close("}");
}

// Writes the function for a collocated call that passes values. They are copied on their way in and out.
void write_copying(const Spelling& spelling, DefId id, const Call& call, Text& out) {
  std::size_t slot = call.returns() ? 1 : 0;
  std::vector<std::string> arguments, back;
  out.open("void $0_local(void* _self, void* const* _frame) {", {internal_name(call)});
  for (const auto& [name, type, direction] : call.arguments) {
    const std::string cxx = spelling.type(type), at = std::to_string(slot++);
    const std::string original =
        fill("*static_cast<$0$1*>(_frame[$2])", {direction == Direction::in ? "const " : "", cxx, at});
    if (!spelling.holds_values(type)) {
      arguments.push_back(original);
      continue;
    }
    if (direction == Direction::out)
      out.line("$0 $1$2;", {cxx, name, spelling.initial(type)});
    else
      out.line("$0 $1 = ::corelane::core::copied($2);", {cxx, name, original});
    arguments.push_back(name);
    if (direction != Direction::in) back.push_back(fill("$0 = ::corelane::core::copied($1);", {original, name}));
  }
  if (call.returns()) out.line("auto* const _result = static_cast<$0*>(_frame[0]);", {spelling.type(call.result)});
  const bool copies = call.returns() && spelling.holds_values(call.result);
  out.list(std::string(!call.returns() ? ""
                       : copies        ? "*_result = ::corelane::core::copied("
                                       : "*_result = ") +
               self_call(spelling, id, call),
           arguments, copies ? "));" : ");");
  for (const std::string& line : back) out.line(line);
  out.close("}");
}

bool passes_values(const Spelling& spelling, const Call& call) {
  return (call.returns() && spelling.holds_values(call.result)) ||
         std::ranges::any_of(call.arguments,
                             [&](const Argument& argument) { return spelling.holds_values(argument.type); });
}

// Writes the function for a collocated call. The frame has the addresses of the caller's result and arguments.
void write_local(const Spelling& spelling, DefId id, const Call& call, Text& out) {
  if (passes_values(spelling, call)) return write_copying(spelling, id, call, out);
  std::size_t slot = 0;
  const auto in_frame = [&](const std::string& type) {
    return fill("static_cast<$0*>(_frame[$1])", {type, std::to_string(slot++)});
  };
  const std::string result = call.returns() ? in_frame(spelling.type(call.result)) : "";
  std::vector<std::string> arguments;
  for (const auto& [name, type, direction] : call.arguments)
    arguments.push_back(fill("*$0", {in_frame((direction == Direction::in ? "const " : "") + spelling.type(type))}));
  out.open("void $0_local(void* _self, void* const*$1) {", {internal_name(call), slot == 0 ? "" : " _frame"});
  if (call.returns()) out.line("auto* const _result = $0;", {result});
  if (call.returns() && spelling.is_large(call.result)) {
    out.list(fill("const std::unique_ptr<$0> _returned(new $0(", {spelling.type(call.result)}) +
                 self_call(spelling, id, call),
             arguments, ")));");
    out.line("*_result = std::move(*_returned);");
  } else {
    out.list((call.returns() ? "*_result = " : "") + self_call(spelling, id, call), arguments, ");");
  }
  out.close("}");
}

// Groups digits for readability: 10'000'000.
std::string grouped(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += '\'';
    out += digits[i];
  }
  return out;
}

std::string_view name_of(OverrunPolicy policy) {
  switch (policy) {
    case OverrunPolicy::demote:
      return "demote";
    case OverrunPolicy::cancel:
      return "cancel";
    default:
      return "report";
  }
}

std::vector<std::string> contract_fields(const TaskContract& contract) {
  const auto field = [](std::string_view name, std::chrono::nanoseconds value) {
    return fill(".$0 = ::corelane::Duration{$1}", {name, grouped(value.count())});
  };
  std::vector<std::string> fields = {
      field("period", contract.period),
      field("deadline", contract.deadline),
      field("budget", contract.budget),
      field("jitter", contract.jitter),
      field("suspension", contract.suspension),
      ".importance = " + std::to_string(contract.importance),
      fill(".on_overrun = ::corelane::OverrunPolicy::$0", {name_of(contract.on_overrun)})};
  if (contract.intensity != 0) fields.push_back(".intensity = " + std::to_string(contract.intensity));
  std::string uses;
  for (const ResourceUse& use : contract.uses)
    uses += fill("$0::corelane::use_of(\"$1\", ::corelane::Duration{$2})",
                 {uses.empty() ? "" : ", ", use.resource, grouped(use.longest.count())});
  if (!uses.empty()) fields.push_back(".uses = {" + uses + "}");
  return fields;
}

// Writes the contract from the IDL as <internal name>_contract; nothing if there is none.
void write_contract(const Call& call, Text& out) {
  if (call.contract == nullptr) return;
  out.list(fill("constexpr ::corelane::Contract $0_contract{", {internal_name(call)}), contract_fields(*call.contract),
           "};");
}

std::string contract_of(const Call& call) {
  return ".contract = " + (call.contract == nullptr ? "nullptr" : "&" + internal_name(call) + "_contract");
}

void write_upcalls(const std::vector<Call>& calls, Text& out) {
  if (calls.empty()) return;
  out.open("constexpr ::corelane::core::Upcall _upcalls[] = {");
  for (const Call& call : calls)
    out.list("{",
             {fill(".name = \"$0\", .remote = $1_remote, .local = $1_local", {call.wire_name, internal_name(call)}),
              manner_of(call) + ", " + contract_of(call)},
             "},");
  out.close("};");
}

// Returns the repository ids, the most derived first.
std::vector<std::string> ids_of(const Model& model, DefId interface_id) {
  std::vector<DefId> interfaces = construction_order(model, interface_id);
  interfaces.push_back(interface_id);
  std::vector<std::string> out;
  for (auto id = interfaces.rbegin(); id != interfaces.rend(); ++id)
    out.push_back(string_literal(model[*id].repository_id));
  out.push_back("\"IDL:omg.org/CORBA/Object:1.0\"");
  return out;
}

void write_skeleton(const Spelling& spelling, DefId id, Text& out) {
  const std::string servant = spelling.skeleton_name(id);
  const std::string& name = spelling.model()[id].name;
  const std::vector<Call> calls = all_calls_of(spelling, id);
  out.line("namespace {\nnamespace _upcalls_of_$0 {", {name});
  for (const Call& call : calls) {
    write_remote(spelling, id, call, out);
    write_local(spelling, id, call, out);
    write_contract(call, out);
    write_raises(spelling, call, out);
    out.line();
  }
  write_upcalls(calls, out);
  out.list("constexpr const char* _ids[] = {", ids_of(spelling.model(), id), "};");
  out.line("constexpr ::corelane::core::Skeleton _skeleton{.ids = _ids, .upcalls = $0};",
           {calls.empty() ? "{}" : "_upcalls"});
  out.line("}  // namespace _upcalls_of_$0\n}  // namespace\n", {name});
  out.open("const ::corelane::core::Skeleton& $0::_skeleton() const noexcept {", {servant});
  out.line("return _upcalls_of_$0::_skeleton;", {name});
  out.close("}\n");
}

}  // namespace

std::string servant_source(const Spelling& spelling) {
  const Model& model = spelling.model();
  Text out;
  write_head(spelling, out);
  out.line("#include $0\n", {include_name(model, stem_of(model[FileId::main]) + "S.h")});
  Namespaces namespaces(out);
  for (const DefId id : servants_of_main(model)) {
    namespaces.enter(spelling.skeleton_module_of(id));
    write_skeleton(spelling, id, out);
  }
  namespaces.leave();
  return out.str();
}

}  // namespace corelane::idl::cxx
