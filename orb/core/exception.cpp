#include "orb/core/exception.h"

#include <array>
#include <cstdio>
#include <utility>

#include "orb/base/minor.h"
#include "orb/core/handle.h"

namespace corelane::core {
namespace {

std::string_view completion_name(Completion completed) {
  constexpr std::string_view names[] = {"COMPLETED_YES", "COMPLETED_NO", "COMPLETED_MAYBE"};
  return names[static_cast<std::size_t>(completed) % 3];
}

// Returns whether the detail of such an exception says all that the minor code's text says, and more.
bool is_said_better(std::uint32_t code) {
  return sched::is_minor_of_refusal(code) || code == minor::bad_option || code == minor::no_such_operation ||
         code == minor::address_in_use || code == minor::core_unusable || code == minor::system_refused ||
         code == minor::bad_uri;
}

std::string describe(const Error& error, const Detail* detail) {
  char number[16];
  std::snprintf(number, sizeof number, "0x%08x", static_cast<unsigned>(error.minor));
  std::string text = std::string(name_of(error.kind)) + " (minor " + number + ", " +
                     std::string(completion_name(error.completed)) + ")";
  const std::string_view cause = minor::text(error);
  std::string_view said = detail == nullptr ? std::string_view{} : detail->text;
  if (cause.starts_with(said)) said = {};
  const bool is_needed = said.empty() || !is_said_better(error.minor);
  if (is_needed && !cause.empty() && said.find(cause) == said.npos) text.append(": ").append(cause);
  if (!said.empty()) text.append(": ").append(said);
  return text;
}

// "IDL:omg.org/CORBA/BAD_PARAM:1.0" for each kind, made once.
const std::array<std::string, error_kinds>& repository_ids() {
  static const std::array<std::string, error_kinds> ids = [] {
    std::array<std::string, error_kinds> result;
    for (int i = 0; i < error_kinds; ++i)
      result[static_cast<std::size_t>(i)] =
          "IDL:omg.org/CORBA/" + std::string(name_of(static_cast<ErrorKind>(i))) + ":1.0";
    return result;
  }();
  return ids;
}

enum class Raiser : std::uint8_t { orb, servant };

template <int kind>
void throw_as(const Error& error, std::shared_ptr<const Detail> detail, Raiser raiser) {
  SystemExceptionOf<static_cast<ErrorKind>(kind)> made(error, std::move(detail));
  if (raiser == Raiser::orb) mark_raised_by_orb(made);
  throw made;
}

using Thrower = void (*)(const Error&, std::shared_ptr<const Detail>, Raiser);
template <int... kinds>
constexpr std::array<Thrower, sizeof...(kinds)> throwers(std::integer_sequence<int, kinds...>) {
  return {throw_as<kinds>...};
}

[[noreturn]] void raise_as(Raiser raiser, Error error, std::shared_ptr<const Detail> detail) {
  static constexpr auto table = throwers(std::make_integer_sequence<int, error_kinds>{});
  table[static_cast<std::size_t>(error.kind)](error, std::move(detail), raiser);
  __builtin_unreachable();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Exception& exception) { return out << exception.what(); }

void UserException::_marshal(cdr::Writer& writer) const {
  writer.write_string(_rep_id());
  _encode(writer);
}

SystemException::SystemException(const char* rep_id, Error error, std::shared_ptr<const Detail> detail)
    : rep_id_(rep_id),
      error_(error),
      detail_(std::move(detail)),
      what_(std::make_shared<const std::string>(describe(error_, detail_.get()))) {}

const char* SystemException::what() const noexcept { return what_->c_str(); }
std::string_view SystemException::detail() const noexcept { return detail_ ? detail_->text : std::string_view{}; }
const sched::Refusal* SystemException::refusal() const noexcept {
  return detail_ && detail_->refusal ? &*detail_->refusal : nullptr;
}

const char* repository_id_of(ErrorKind kind) noexcept {
  return repository_ids()[static_cast<std::size_t>(kind)].c_str();
}

void raise(Error error) { raise_as(Raiser::orb, error, std::shared_ptr<const Detail>{}); }
void raise(Error error, std::string detail) { raise(error, Detail{.text = std::move(detail)}); }
void raise(Error error, Detail detail) {
  raise_as(Raiser::orb, error, std::make_shared<const Detail>(std::move(detail)));
}
void raise_as_servant(Error error, std::string detail) {
  raise_as(Raiser::servant, error, std::make_shared<const Detail>(Detail{.text = std::move(detail)}));
}

void raise_while(const std::string& doing, Error error) {
  const std::string_view cause = minor::text(error);
  raise(error, cause.empty() ? doing : doing + ": " + std::string(cause));
}

Error error_of_nested(const SystemException& raised) noexcept {
  Error error = raised.error();
  error.completed = Completion::maybe;
  return error;
}

std::string text_of_nested(const SystemException& raised) {
  return std::string("a call that the servant made failed with ") + raised.what();
}

void mark_raised_by_orb(SystemException& exception) noexcept { exception.raised_by_orb_ = true; }

void raise_nil_reference() { raise(Error{ErrorKind::inv_objref, Completion::no, minor::nil_reference}); }

}  // namespace corelane::core
