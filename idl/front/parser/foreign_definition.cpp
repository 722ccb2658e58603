#include "idl/front/parser/foreign_definition.h"

#include <cstddef>
#include <string_view>

namespace corelane::idl {
namespace {

struct Habit {
  std::string_view word, here;
};
constexpr Habit habits[] = {{"class", "`interface`, or `struct` for data"},
                            {"message", "`struct`"},
                            {"namespace", "`module`"},
                            {"package", "`module NAME { ... };` around the definitions"},
                            {"record", "`struct`"},
                            {"service", "`interface`"},
                            {"trait", "`interface`"},
                            {"using", "`typedef TYPE NAME;`"}};

// rpc Name(Request) returns (Reply);
bool at_rpc(const TokenCursor& cursor) {
  constexpr std::size_t longest = 64;  // in tokens; only the message for a longer request differs
  if (cursor.current().text != "rpc" || !cursor.ahead(1).is(TokenKind::identifier) || !cursor.ahead(2).is("("))
    return false;
  std::size_t at = 3;
  while (at < longest && !cursor.ahead(at).is(")") && !cursor.ahead(at).is(";")) ++at;
  return cursor.ahead(at).is(")") && cursor.ahead(at + 1).text == "returns";
}

}  // namespace

std::string foreign_definition_at(const TokenCursor& cursor, BodyKind kind) {
  const Token& token = cursor.current();
  if (!token.is(TokenKind::identifier)) return {};
  if (at_rpc(cursor)) return "`rpc` is no keyword of IDL: write `Reply name(in Request request);`";
  if (token.text == "syntax" && cursor.ahead(1).is("=")) return "`syntax` is a line of protobuf: IDL has none";
  const bool begins = cursor.ahead(2).is("{") || cursor.ahead(2).is(":");
  if (!cursor.ahead(1).is(TokenKind::identifier) || (kind != in_module && !begins)) return {};
  for (const Habit& habit : habits)
    if (token.text == habit.word) return quoted(habit.word) + " is no keyword of IDL: write " + std::string(habit.here);
  return {};
}

}  // namespace corelane::idl
