#include "idl/front/parser/annotation_parser.h"

#include <string>

namespace corelane::idl {

ast::Annotations AnnotationParser::parse() {
  ast::Annotations result;
  while (cursor_.at("@") && cursor_.ahead(1).text != "annotation") result.push_back(annotation());
  return result;
}

ast::Annotation AnnotationParser::annotation() {
  ast::Annotation result;
  const Span first = cursor_.expect("@").span;
  if (cursor_.at(TokenKind::keyword)) {  // @default
    const Token word = cursor_.advance();
    result.name = {false, {{std::string(word.text), word.span}}, word.span};
  } else {
    result.name = names_.scoped_name("an annotation's name");
  }
  result.span = join(first, result.name.span);
  if (!cursor_.accept("(")) return result;
  if (!cursor_.at(")")) {
    do result.parameters.push_back(annotation_parameter());
    while (cursor_.accept(","));
  }
  if (!cursor_.at(")")) cursor_.fail_expected("`,` or `)`");
  cursor_.advance();
  result.span = join(first, cursor_.previous().span);
  return result;
}

ast::AnnotationParameter AnnotationParser::annotation_parameter() {
  ast::AnnotationParameter result;
  const bool is_word = cursor_.at(TokenKind::identifier) || cursor_.at(TokenKind::keyword);
  if (is_word && cursor_.ahead(1).is("=")) {
    const Token word = cursor_.advance();
    result.name = {std::string(word.text), word.span};
    cursor_.advance();
  }
  result.value = expressions_.parse();
  return result;
}

}  // namespace corelane::idl
