#include "services/corelane/measure/caller.h"

#include <array>
#include <charconv>
#include <ostream>
#include <span>
#include <string_view>

#include "orb/base/minor.h"
#include "orb/cdr/writer.h"
#include "orb/core/client/client_call.h"
#include "orb/core/client/reference.h"
#include "orb/core/client/task_binding.h"
#include "orb/rt/rt.h"
#include "services/corelane/output/text.h"
#include "services/corelane/references/calling_orb.h"

namespace corelane::tool {
namespace {

struct ArgumentType {
  std::string_view name;
  bool (*write)(cdr::Writer& writer, std::string_view value);
};

template <typename Number>
bool write_number(cdr::Writer& writer, std::string_view text) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return false;
  writer.write(value);
  return true;
}

bool write_boolean(cdr::Writer& writer, std::string_view text) {
  if (text != "true" && text != "false") return false;
  writer.write(text == "true");
  return true;
}

constexpr ArgumentType types[] = {
    {"boolean", write_boolean},
    {"octet", write_number<std::uint8_t>},
    {"short", write_number<std::int16_t>},
    {"ushort", write_number<std::uint16_t>},
    {"long", write_number<std::int32_t>},
    {"ulong", write_number<std::uint32_t>},
    {"longlong", write_number<std::int64_t>},
    {"ulonglong", write_number<std::uint64_t>},
    {"float", write_number<float>},
    {"double", write_number<double>},
    {"string", [](cdr::Writer& writer, std::string_view text) { return cdr::write_text(writer, text), true; }},
};

bool write_argument(cdr::Writer& writer, std::string_view argument) {
  const std::size_t colon = argument.find(':');
  for (const ArgumentType& type : types)
    if (colon != argument.npos && argument.substr(0, colon) == type.name)
      return type.write(writer, argument.substr(colon + 1));
  return false;
}

// Returns an argument that cannot be written; "" if all can.
std::string bad_argument(const CallPlan& plan) {
  cdr::Writer writer;
  for (const std::string& argument : plan.arguments)
    if (!write_argument(writer, argument)) return argument;
  return {};
}

// Makes one call. Returns false if it ended with an exception of the operation. Raises system exceptions.
bool call_once(const std::shared_ptr<core::Reference>& reference, const CallPlan& plan) {
  core::ClientCallPtr call = core::ClientCall::acquire();
  call->begin(reference, plan.operation, {.binding = reference->binding_of(plan.operation)});
  for (const std::string& argument : plan.arguments) write_argument(call->arguments(), argument);
  try {
    call->invoke({});
  } catch (const CORBA::UNKNOWN& exception) {
    if (exception.minor() != minor::undeclared_exception) throw;
    return false;
  }
  return true;
}

bool make_calls(const CORBA::object_reference<CORBA::Object>& object, const CallPlan& plan, const CallSteps& steps,
                const Complaints& complaints) {
  const auto task = rt::admit(object, {.operation = plan.operation, .contract = plan.contract});
  if (!task) {
    complaints.begin() << "the server refuses to measure with period " << to_string(plan.contract.period)
                       << " and budget " << to_string(plan.contract.budget) << ": " << task.error().text << "\n";
    return false;
  }
  const auto& reference = object->_reference();
  CalledTask called{.task = task->id(), .contract = task->contract(), .repository_id = reference->ior().type_id};
  if (!steps.before(called)) return false;
  for (int i = 0; i < plan.calls && !(steps.is_to_stop && steps.is_to_stop()); ++i)
    ++(call_once(reference, plan) ? called.answered : called.raised);
  return steps.after(called);
}

}  // namespace

std::string argument_types() {
  std::string text;
  for (const ArgumentType& type : types) text += (text.empty() ? "" : ", ") + std::string(type.name);
  return text;
}

bool call(const CallPlan& plan, const CallSteps& steps, const Complaints& complaints) {
  if (const std::string bad = bad_argument(plan); !bad.empty()) {
    complaints.begin() << "argument " << plain(bad) << ": expected TYPE:VALUE, with a value of that type; types are "
                       << argument_types() << "\n";
    return false;
  }
  try {
    const CallingOrb orb("corelane-measure", plan.options);
    if (const auto object = orb->string_to_object(plan.reference)) return make_calls(object, plan, steps, complaints);
    complaints.begin() << "the reference is nil: it refers to no object\n";
  } catch (const CORBA::MARSHAL& exception) {
    complaints.begin() << "do the arguments fit? Each of the operation's in and inout parameters is an --argument, in "
                       << "the IDL's order, and of a struct each member. The call raised " << plain(exception.what())
                       << "\n";
  } catch (const CORBA::Exception& exception) {
    complaints.begin() << plain(exception.what()) << "\n";
  }
  return false;
}

}  // namespace corelane::tool
