#include "idl/sema/constants.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "idl/sema/decimal.h"

namespace corelane::idl {
namespace {

using ast::Operator;
__extension__ using Integer = __int128;

using Real = ast::Real;

using Operand = std::variant<bool, Integer, Real, char, std::string, EnumeratorRef, char32_t, std::u32string, Decimal>;

constexpr Integer smallest = std::numeric_limits<std::int64_t>::min();
constexpr Integer largest = std::numeric_limits<std::uint64_t>::max();

std::string spell(Integer value) {
  const bool negative = value < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? -value : value);
  std::string text(negative ? 1 : 0, '-');
  return text.append(std::to_string(magnitude));
}

std::string_view kind_of(const Operand& operand) {
  constexpr std::string_view names[] = {"a boolean",        "an integer",    "a floating-point number",
                                        "a character",      "a string",      "an enumerator",
                                        "a wide character", "a wide string", "a fixed-point number"};
  return names[operand.index()];
}

struct Range {
  Integer low;
  Integer high;
};

template <typename T>
Range range_as() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

std::optional<Range> integer_range(TypeKind kind) {
  switch (kind) {
    case TypeKind::octet:
    case TypeKind::uint8:
      return range_as<std::uint8_t>();
    case TypeKind::int8:
      return range_as<std::int8_t>();
    case TypeKind::int16:
      return range_as<std::int16_t>();
    case TypeKind::uint16:
      return range_as<std::uint16_t>();
    case TypeKind::int32:
      return range_as<std::int32_t>();
    case TypeKind::uint32:
      return range_as<std::uint32_t>();
    case TypeKind::int64:
      return range_as<std::int64_t>();
    case TypeKind::uint64:
      return range_as<std::uint64_t>();
    default:
      return std::nullopt;
  }
}

struct ToOperand {
  Operand operator()(std::int64_t value) const { return Integer{value}; }
  Operand operator()(std::uint64_t value) const { return Integer{value}; }
  Operand operator()(double value) const { return Real{value, value}; }
  Operand operator()(long double value) const { return Real{static_cast<double>(value), value}; }
  template <typename T>
  Operand operator()(const T& value) const {
    return value;
  }
};

// One evaluation; the type wanted decides what `~` means.
class Evaluation {
 public:
  Evaluation(const Model& model, const TypeTable& types, Names& names, Diagnostics& diagnostics, TypeId wanted)
      : model_(model), types_(types), names_(names), diagnostics_(diagnostics), wanted_(wanted) {}

  std::optional<Operand> fold(const ast::Expression& expression) {
    // recursion: bounded by the parser's limits on expressions
    return std::visit([&](const auto& node) { return of(node, expression); }, expression.node);
  }

  std::optional<Value> convert(const Operand& operand, const Span& at) {
    const TypeKind kind = model_.resolved(wanted_).kind;
    if (const auto range = integer_range(kind)) return to_integer(operand, *range, at);
    switch (kind) {
      case TypeKind::bitmask:
        return to_integer(operand, {0, bits(std::get<Bitmask>(definition().body).bit_bound)}, at);
      case TypeKind::float32:
      case TypeKind::float64:
      case TypeKind::float128:
        return to_float(operand, kind, at);
      case TypeKind::enumeration:
        return to_enumerator(operand, at);
      case TypeKind::fixed:
        return to_fixed(operand, at);
      case TypeKind::boolean:
        return as<bool>(operand, at);
      case TypeKind::character:
        return as<char>(operand, at);
      case TypeKind::wide_character:
        return to_wide_character(operand, at);
      case TypeKind::string:
        return to_string<std::string>(operand, at);
      case TypeKind::wide_string:
        return to_wide_string(operand, at);
      default:
        return mismatch(operand, at);
    }
  }

 private:
  std::optional<Operand> of(std::uint64_t value, const ast::Expression&) { return Operand{Integer{value}}; }
  std::optional<Operand> of(const ast::FixedLiteral& value, const ast::Expression&) {
    return Operand{decimal_of(value.text)};
  }
  std::optional<Operand> of(const Real& value, const ast::Expression& whole) { return finite(value, whole.span); }
  template <typename Literal>
  std::optional<Operand> of(const Literal& value, const ast::Expression&) {
    return Operand{value};
  }

  std::optional<Operand> of(const ast::ScopedName& name, const ast::Expression& whole) {
    if (const auto bit = bit_of(name)) return bit;
    const Symbol* symbol = names_.resolve(name);
    if (symbol == nullptr || symbol->kind == SymbolKind::unusable) return std::nullopt;
    if (symbol->kind == SymbolKind::enumerator) return enumerator(*symbol);
    if (symbol->kind != SymbolKind::constant) {
      diagnostics_
          .error(whole.span,
                 quoted(ast::to_string(name)) + " is " + std::string(article_name(symbol->kind)) + ", not a constant")
          .note(symbol->span, "declared here");
      return std::nullopt;
    }
    if (!symbol->defined || symbol->definition == DefId::none) return std::nullopt;  // its value was refused
    return std::visit(ToOperand{}, std::get<Constant>(model_[symbol->definition].body).value);
  }

  // A bit of the bitmask that is wanted, which may go without the name of the bitmask.
  std::optional<Operand> bit_of(const ast::ScopedName& name) const {
    if (!is_bitmask_wanted() || name.parts.size() != 1 || name.absolute) return std::nullopt;
    for (const Bit& bit : std::get<Bitmask>(definition().body).bits)
      if (bit.name == name.parts.front().text) return Operand{Integer{1} << static_cast<int>(bit.position)};
    return std::nullopt;
  }

  // A bit counts as a number where its bitmask is wanted.
  std::optional<Operand> enumerator(const Symbol& symbol) {
    const EnumeratorRef found{symbol.definition, symbol.index};
    const auto* bitmask = std::get_if<Bitmask>(&model_[symbol.definition].body);
    const bool wanted = wanted_ != TypeId::none && model_.resolved(wanted_).definition == symbol.definition;
    if (bitmask == nullptr || !wanted) return Operand{found};
    return Operand{Integer{1} << static_cast<int>(bitmask->bits[symbol.index].position)};
  }

  std::optional<Operand> of(const ast::Unary& unary, const ast::Expression& whole) {
    const std::optional<Operand> operand = fold(*unary.operand);
    if (!operand) return std::nullopt;
    if (const auto* integer = std::get_if<Integer>(&*operand)) return in_range(apply(unary.op, *integer), whole.span);
    const bool minus = unary.op == Operator::minus;
    if (unary.op != Operator::invert) {
      if (const auto* real = std::get_if<Real>(&*operand))
        return minus ? Operand{Real{-real->narrow, -real->wide}} : *operand;
      if (const auto* decimal = std::get_if<Decimal>(&*operand)) return minus ? Operand{negated(*decimal)} : *operand;
    }
    return refuse(whole.span, "this operator does not apply to " + std::string(kind_of(*operand)));
  }

  Integer apply(Operator op, Integer value) const {
    if (op == Operator::minus) return -value;
    if (op == Operator::plus) return value;
    const auto range = wanted_ == TypeId::none ? std::nullopt : integer_range(model_.resolved(wanted_).kind);
    if (!range && is_bitmask_wanted()) return bits(std::get<Bitmask>(definition().body).bit_bound) - value;
    return range && range->low == 0 ? range->high - value : -value - 1;
  }

  std::optional<Operand> of(const ast::Binary& binary, const ast::Expression& whole) {
    const std::optional<Operand> left = fold(*binary.left);
    const std::optional<Operand> right = fold(*binary.right);
    if (!left || !right) return std::nullopt;
    if (left->index() != right->index()) {
      diagnostics_.error(whole.span,
                         "cannot combine " + std::string(kind_of(*left)) + " with " + std::string(kind_of(*right)));
      return std::nullopt;
    }
    if (const auto* integer = std::get_if<Integer>(&*left))
      return combine(binary, *integer, std::get<Integer>(*right), whole.span);
    if (const auto* real = std::get_if<Real>(&*left)) return combine(binary, *real, std::get<Real>(*right), whole.span);
    if (const auto* decimal = std::get_if<Decimal>(&*left))
      return combine(binary, *decimal, std::get<Decimal>(*right), whole.span);
    diagnostics_.error(whole.span, "this operator does not apply to " + std::string(kind_of(*left)));
    return std::nullopt;
  }

  std::optional<Operand> combine(const ast::Binary& binary, Integer left, Integer right, const Span& at) {
    const bool divides = binary.op == Operator::divide || binary.op == Operator::modulo;
    if (divides && right == 0) return refuse(binary.right->span, "division by zero");
    const bool shifts = binary.op == Operator::shift_left || binary.op == Operator::shift_right;
    if (shifts && (right < 0 || right >= 64)) return refuse(binary.right->span, "a shift is by 0 to 63 bits");
    switch (binary.op) {
      case Operator::add:
        return in_range(left + right, at);
      case Operator::subtract:
        return in_range(left - right, at);
      case Operator::multiply:
        return product(left, right, at);
      case Operator::divide:
        return in_range(left / right, at);
      case Operator::modulo:
        return in_range(left % right, at);
      case Operator::shift_left:
        return product(left, Integer{1} << static_cast<int>(right), at);
      case Operator::shift_right:
        return in_range(left >> static_cast<int>(right), at);
      case Operator::bit_and:
        return in_range(left & right, at);
      case Operator::bit_or:
        return in_range(left | right, at);
      default:
        return in_range(left ^ right, at);
    }
  }

  std::optional<Operand> product(Integer left, Integer right, const Span& at) {
    Integer value = 0;
    if (__builtin_mul_overflow(left, right, &value)) value = largest + 1;
    return in_range(value, at);
  }

  template <typename T>
  static std::optional<T> arithmetic(Operator op, T left, T right) {
    switch (op) {
      case Operator::add:
        return left + right;
      case Operator::subtract:
        return left - right;
      case Operator::multiply:
        return left * right;
      case Operator::divide:
        return left / right;
      default:
        return std::nullopt;
    }
  }

  std::optional<Operand> combine(const ast::Binary& binary, const Real& left, const Real& right, const Span& at) {
    if (binary.op == Operator::divide && right.wide == 0) return refuse(binary.right->span, "division by zero");
    const auto wide = arithmetic(binary.op, left.wide, right.wide);
    if (!wide) return refuse(at, "this operator does not apply to a floating-point number");
    const double narrow = right.narrow == 0 && binary.op == Operator::divide
                              ? std::numeric_limits<double>::infinity()
                              : *arithmetic(binary.op, left.narrow, right.narrow);
    return finite({narrow, *wide}, at);
  }

  std::optional<Operand> combine(const ast::Binary& binary, const Decimal& left, const Decimal& right, const Span& at) {
    std::optional<Decimal> value;
    switch (binary.op) {
      case Operator::add:
        value = sum(left, right);
        break;
      case Operator::subtract:
        value = sum(left, negated(right));
        break;
      case Operator::multiply:
        value = idl::product(left, right);
        break;
      case Operator::divide:
        if (is_zero(right)) return refuse(binary.right->span, "division by zero");
        value = quotient(left, right);
        break;
      default:
        return refuse(at, "this operator does not apply to a fixed-point number");
    }
    if (value) return Operand{*std::move(value)};
    return refuse(at, "the value has more than 31 digits");
  }

  bool is_long_double_wanted() const {
    return wanted_ != TypeId::none && model_.resolved(wanted_).kind == TypeKind::float128;
  }
  bool is_bitmask_wanted() const {
    return wanted_ != TypeId::none && model_.resolved(wanted_).kind == TypeKind::bitmask;
  }
  const Definition& definition() const { return model_[model_.resolved(wanted_).definition]; }
  static Integer bits(std::uint16_t count) { return (Integer{1} << static_cast<int>(count)) - 1; }

  std::optional<Operand> finite(const Real& value, const Span& at) {
    if (is_long_double_wanted() ? std::isfinite(value.wide) : std::isfinite(value.narrow)) return Operand{value};
    return refuse(at, is_long_double_wanted() ? "the value is outside the range of `long double`"
                                              : "the value is outside the range of `double`");
  }

  std::optional<Operand> refuse(const Span& at, std::string message) {
    diagnostics_.error(at, std::move(message));
    return std::nullopt;
  }

  std::optional<Operand> in_range(Integer value, const Span& at) {
    if (value >= smallest && value <= largest) return Operand{value};
    return refuse(at, "the value does not fit in 64 bits");
  }

  std::optional<Value> to_integer(const Operand& operand, const Range& range, const Span& at) {
    const auto* value = std::get_if<Integer>(&operand);
    if (value == nullptr) return mismatch(operand, at);
    if (*value < range.low || *value > range.high) {
      diagnostics_.error(at, spell(*value) + " is outside the range of " + quoted(types_.name(wanted_)) + " (" +
                                 spell(range.low) + " to " + spell(range.high) + ")");
      return std::nullopt;
    }
    if (range.low < 0) return Value{static_cast<std::int64_t>(*value)};
    return Value{static_cast<std::uint64_t>(*value)};
  }

  template <typename T>
  std::optional<Value> as(const Operand& operand, const Span& at) {
    if (const auto* value = std::get_if<T>(&operand)) return Value{*value};
    return mismatch(operand, at);
  }

  // Peers convert some literals silently: so do we, but tell.
  void warn_converted(const Operand& operand, const Span& at) {
    diagnostics_.warning(Warning::constant, at, mismatch_text(operand));
  }

  std::optional<Value> to_wide_character(const Operand& operand, const Span& at) {
    const auto* narrow = std::get_if<char>(&operand);
    if (narrow == nullptr || *narrow < 0) return as<char32_t>(operand, at);
    warn_converted(operand, at);
    return Value{static_cast<char32_t>(*narrow)};
  }

  std::optional<Value> to_wide_string(const Operand& operand, const Span& at) {
    const auto* narrow = std::get_if<std::string>(&operand);
    const auto is_ascii = [](char c) { return c >= 0; };
    if (narrow == nullptr || !std::all_of(narrow->begin(), narrow->end(), is_ascii))
      return to_string<std::u32string>(operand, at);
    warn_converted(operand, at);
    return to_string<std::u32string>(Operand{std::u32string(narrow->begin(), narrow->end())}, at);
  }

  template <typename Text>
  std::optional<Value> to_string(const Operand& operand, const Span& at) {
    const auto* value = std::get_if<Text>(&operand);
    if (value == nullptr) return mismatch(operand, at);
    const std::uint64_t bound = model_.resolved(wanted_).bound;
    if (bound == 0 || value->size() <= bound) return Value{*value};
    diagnostics_.error(at, "the string has " + std::to_string(value->size()) + " characters, more than " +
                               quoted(types_.name(wanted_)) + " takes");
    return std::nullopt;
  }

  std::optional<Value> to_float(const Operand& operand, TypeKind kind, const Span& at) {
    if (const auto* integer = std::get_if<Integer>(&operand)) {
      warn_converted(operand, at);
      return to_float(Operand{Real{static_cast<double>(*integer), static_cast<long double>(*integer)}}, kind, at);
    }
    const auto* value = std::get_if<Real>(&operand);
    if (value == nullptr) return mismatch(operand, at);
    if (kind == TypeKind::float128) return Value{value->wide};
    if (kind == TypeKind::float32 && std::fabs(value->narrow) > double{FLT_MAX}) {
      diagnostics_.error(at, "the value is outside the range of `float`");
      return std::nullopt;
    }
    return Value{value->narrow};
  }

  // The fixed-point number that an integer or the shortest spelling of a floating-point number is.
  static std::optional<Decimal> decimal_from(const Operand& operand) {
    std::string text;
    if (const auto* integer = std::get_if<Integer>(&operand)) {
      text = spell(*integer);
    } else if (const auto* real = std::get_if<Real>(&operand); real != nullptr && std::fabs(real->narrow) < 1e31) {
      std::array<char, 400> buffer{};
      const auto done =
          std::to_chars(buffer.data(), buffer.data() + buffer.size(), real->narrow, std::chars_format::fixed);
      text.assign(buffer.data(), done.ptr);
    } else {
      return std::nullopt;
    }
    const bool negative = text.starts_with('-');
    const Decimal value = decimal_of(std::string_view(text).substr(negative ? 1 : 0));
    return negative ? negated(value) : value;
  }

  // How many characters of its spelling without a sign are left when it is cut to the scale of the type.
  static std::size_t fraction_end(const Decimal& value, const Type& type) {
    return idl::spell(value).size() - (value.negative ? 1 : 0) - static_cast<std::size_t>(value.scale - type.scale);
  }

  // `const fixed` takes any value; fixed<5, 2> one with three digits before the point and two behind.
  std::optional<Value> to_fixed(const Operand& operand, const Span& at) {
    if (const auto converted = decimal_from(operand)) {
      warn_converted(operand, at);
      return to_fixed(Operand{*converted}, at);
    }
    const auto* value = std::get_if<Decimal>(&operand);
    if (value == nullptr) return mismatch(operand, at);
    const Type& type = model_.resolved(wanted_);
    const std::size_t digits = is_zero(*value) ? 0 : value->digits.size();
    const std::size_t whole = digits > value->scale ? digits - value->scale : 0;
    const bool fits = whole <= std::size_t{type.digits} - type.scale;
    if (type.digits == 0 || (fits && value->scale <= type.scale)) return Value{*value};
    if (fits) {
      diagnostics_.warning(Warning::constant, at,
                           quoted(types_.name(wanted_)) + " cuts " + idl::spell(*value) + " to its scale");
      const Decimal cut = decimal_of(idl::spell(*value).substr(value->negative ? 1 : 0, fraction_end(*value, type)));
      return Value{value->negative ? negated(cut) : cut};
    }
    diagnostics_.error(at, spell(*value) + " does not fit in " + quoted(types_.name(wanted_)));
    return std::nullopt;
  }

  std::optional<Value> to_enumerator(const Operand& operand, const Span& at) {
    const auto* value = std::get_if<EnumeratorRef>(&operand);
    if (value == nullptr) return mismatch(operand, at);
    const DefId wanted = model_.resolved(wanted_).definition;
    if (value->enumeration == wanted) return Value{*value};
    diagnostics_.error(at, "expected an enumerator of " + quoted(model_[wanted].scoped_name) + ", found one of " +
                               quoted(model_[value->enumeration].scoped_name));
    return std::nullopt;
  }

  std::optional<Value> mismatch(const Operand& operand, const Span& at) {
    diagnostics_.error(at, mismatch_text(operand));
    return std::nullopt;
  }

  std::string mismatch_text(const Operand& operand) const {
    const TypeKind kind = model_.resolved(wanted_).kind;
    const bool real = kind == TypeKind::float32 || kind == TypeKind::float64 || kind == TypeKind::float128;
    const bool is_integer = std::holds_alternative<Integer>(operand);
    std::string message = "expected a value of type " + quoted(types_.name(wanted_)) + ", found ";
    message += kind_of(operand);
    if (real && is_integer) message += " (write it with a decimal point)";
    if (kind == TypeKind::fixed && (is_integer || std::holds_alternative<Real>(operand)))
      message += " (write it with a `d` at its end)";
    const bool wide = kind == TypeKind::wide_character || kind == TypeKind::wide_string;
    if (wide && (std::holds_alternative<char>(operand) || std::holds_alternative<std::string>(operand)))
      message += " (write an `L` before it)";
    return message;
  }

  const Model& model_;
  const TypeTable& types_;
  Names& names_;
  Diagnostics& diagnostics_;
  const TypeId wanted_;
};

}  // namespace

std::optional<Value> Constants::evaluate(const ast::Expression& expression, TypeId type) {
  Evaluation evaluation(model_, types_, names_, diagnostics_, type);
  const std::optional<Operand> operand = evaluation.fold(expression);
  return operand ? evaluation.convert(*operand, expression.span) : std::nullopt;
}

std::optional<Value> Constants::evaluate(const ast::Expression& expression) {
  const std::optional<Operand> operand =
      Evaluation(model_, types_, names_, diagnostics_, TypeId::none).fold(expression);
  if (!operand) return std::nullopt;
  const auto natural = [](const auto& value) -> Value {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Integer>) {
      if (value > std::numeric_limits<std::int64_t>::max()) return static_cast<std::uint64_t>(value);
      return static_cast<std::int64_t>(value);
    } else if constexpr (std::is_same_v<T, Real>) {
      return value.narrow;
    } else {
      return value;
    }
  };
  return std::visit(natural, *operand);
}

std::optional<Value> Constants::convert(const Value& value, TypeId type, const Span& at) {
  return Evaluation(model_, types_, names_, diagnostics_, type).convert(std::visit(ToOperand{}, value), at);
}

DefId Constants::named_constant(const ast::Expression& expression) {
  const auto* name = std::get_if<ast::ScopedName>(&expression.node);
  if (name == nullptr) return DefId::none;
  const Symbol* symbol = names_.resolve(*name);
  return symbol != nullptr && symbol->kind == SymbolKind::constant ? symbol->definition : DefId::none;
}

}  // namespace corelane::idl
