#include "idl/front/parser/construct_parser.h"

#include <string>
#include <utility>

namespace corelane::idl {

DefinitionPtr ConstructParser::structure(const Token& keyword) {
  DefinitionPtr result = names_.definition(keyword);
  if (cursor_.at(";")) {
    result->node = ast::ForwardStructure{};
    return result;
  }
  ast::Structure body;
  if (cursor_.accept(":")) body.base = names_.scoped_name("a base struct");
  cursor_.expect("{");
  body.members = members();
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

// union U switch (type) { case 1: case 2: long a; default: string b; }
DefinitionPtr ConstructParser::union_rule(const Token& keyword) {
  DefinitionPtr result = names_.definition(keyword);
  if (cursor_.at(";")) {
    result->node = ast::ForwardUnion{};
    return result;
  }
  ast::Union body;
  cursor_.expect("switch");
  cursor_.expect("(");
  body.discriminator_annotations = annotations_.parse();
  body.discriminator = types_.parse("the type of the discriminator", Inline::allowed);
  cursor_.expect(")");
  cursor_.expect("{");
  if (cursor_.at("}")) cursor_.fail_expected("`case` or `default`");
  while (!cursor_.at_end() && !cursor_.at("}")) state_.recovering([&] { body.branches.push_back(branch()); });
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

ast::Branch ConstructParser::branch() {
  ast::Branch result;
  result.labels = labels();
  if (result.labels.empty()) cursor_.fail_expected("`case` or `default`");
  result.annotations = annotations_.parse();
  result.type = types_.parse("the type of a union's member", Inline::allowed);
  result.declarator = types_.declarator();
  cursor_.expect(";");
  return result;
}

std::vector<ast::Label> ConstructParser::labels() {
  std::vector<ast::Label> result;
  while (cursor_.at("case") || cursor_.at("default")) {
    const Token keyword = cursor_.advance();
    if (keyword.is("default")) {
      result.push_back({nullptr, keyword.span});
    } else {
      ast::ExpressionPtr value = expressions_.parse();
      const Span span = value->span;
      result.push_back({std::move(value), span});
    }
    cursor_.expect(":");
  }
  return result;
}

DefinitionPtr ConstructParser::exception(const Token& keyword) {
  DefinitionPtr result = names_.definition(keyword);
  cursor_.expect("{");
  result->node = ast::Exception{members()};
  cursor_.expect("}");
  return result;
}

std::vector<ast::Member> ConstructParser::members() {
  std::vector<ast::Member> result;
  while (!cursor_.at_end() && !cursor_.at("}")) state_.recovering([&] { result.push_back(member()); });
  return result;
}

ast::Member ConstructParser::member() {
  ast::Member result;
  result.annotations = annotations_.parse();
  result.type = types_.parse("a member's type", Inline::allowed);
  result.declarators = types_.declarators();
  cursor_.expect(";");
  return result;
}

DefinitionPtr ConstructParser::enumeration(const Token& keyword) {
  DefinitionPtr result = names_.definition(keyword);
  result->node = ast::Enumeration{enumerators("an enumerator")};
  return result;
}

DefinitionPtr ConstructParser::bitmask(const Token& keyword) {
  DefinitionPtr result = names_.definition(keyword);
  result->node = ast::Bitmask{enumerators("a bit")};
  return result;
}

std::vector<ast::Enumerator> ConstructParser::enumerators(std::string_view what) {
  std::vector<ast::Enumerator> result;
  cursor_.expect("{");
  do {
    if (cursor_.at("}") && !result.empty()) {
      cursor_.fail(cursor_.previous().span, "expected " + std::string(what) + " after this comma");
    }
    ast::Annotations notes = annotations_.parse();
    result.push_back({std::move(notes), names_.identifier(what)});
  } while (cursor_.accept(","));
  cursor_.expect("}");
  return result;
}

// bitset B : A { bitfield<3> a, b; bitfield<2>; bitfield<10, short> c; }
DefinitionPtr ConstructParser::bitset(const Token& keyword) {
  DefinitionPtr result = names_.definition(keyword);
  ast::Bitset body;
  if (cursor_.accept(":")) body.base = names_.scoped_name("a base bitset");
  cursor_.expect("{");
  while (!cursor_.at_end() && !cursor_.at("}")) state_.recovering([&] { body.fields.push_back(bitfield()); });
  cursor_.expect("}");
  result->node = std::move(body);
  return result;
}

ast::Bitfield ConstructParser::bitfield() {
  ast::Bitfield result;
  result.annotations = annotations_.parse();
  if (cursor_.current().text != "bitfield") cursor_.fail_expected("`bitfield`");
  result.span = cursor_.advance().span;
  cursor_.expect("<");
  result.bits = expressions_.bound();
  if (cursor_.accept(",")) result.type = types_.parse("the type of a bit field");
  cursor_.expect_closing_angle();
  // The grammar has blanks between the names; most people write commas.
  while (!cursor_.at(";")) {
    result.names.push_back(names_.identifier("a bit field's name"));
    if (cursor_.accept(",") && cursor_.at(";")) cursor_.fail_expected("a bit field's name");
  }
  cursor_.expect(";");
  return result;
}

}  // namespace corelane::idl
