#include "idl/sema/constants.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace corelane::idl {
namespace {

using ast::Operator;
__extension__ using Integer = __int128;

using Operand = std::variant<bool, Integer, double, char, std::string, EnumeratorRef>;

constexpr Integer smallest = std::numeric_limits<std::int64_t>::min();
constexpr Integer largest = std::numeric_limits<std::uint64_t>::max();

std::string spell(Integer value) {
  const bool negative = value < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? -value : value);
  std::string text(negative ? 1 : 0, '-');
  return text.append(std::to_string(magnitude));
}

std::string_view kind_of(const Operand& operand) {
  constexpr std::string_view names[] = {"a boolean",   "an integer", "a floating-point number",
                                        "a character", "a string",   "an enumerator"};
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
  template <typename T>
  Operand operator()(const T& value) const {
    if constexpr (requires { Operand{value}; })
      return value;
    else
      return false;  // of a type that constants() refuses
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
    if (kind == TypeKind::float32 || kind == TypeKind::float64) return to_float(operand, kind, at);
    if (kind == TypeKind::enumeration) return to_enumerator(operand, at);
    if (kind == TypeKind::boolean && std::holds_alternative<bool>(operand)) return Value{std::get<bool>(operand)};
    if (kind == TypeKind::character && std::holds_alternative<char>(operand)) return Value{std::get<char>(operand)};
    if (kind == TypeKind::string && std::holds_alternative<std::string>(operand))
      return Value{std::get<std::string>(operand)};
    return mismatch(operand, at);
  }

 private:
  std::optional<Operand> of(std::uint64_t value, const ast::Expression&) { return Operand{Integer{value}}; }
  template <typename Literal>
  std::optional<Operand> of(const Literal& value, const ast::Expression&) {
    return Operand{value};
  }

  std::optional<Operand> of(const ast::ScopedName& name, const ast::Expression& whole) {
    const Symbol* symbol = names_.resolve(name);
    if (symbol == nullptr || symbol->kind == SymbolKind::unusable) return std::nullopt;
    if (symbol->kind == SymbolKind::enumerator) return Operand{EnumeratorRef{symbol->definition, symbol->index}};
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

  std::optional<Operand> of(const ast::Unary& unary, const ast::Expression& whole) {
    const std::optional<Operand> operand = fold(*unary.operand);
    if (!operand) return std::nullopt;
    if (const auto* integer = std::get_if<Integer>(&*operand)) return in_range(apply(unary.op, *integer), whole.span);
    const auto* real = std::get_if<double>(&*operand);
    if (real == nullptr || unary.op == Operator::invert) {
      diagnostics_.error(whole.span, "this operator does not apply to " + std::string(kind_of(*operand)));
      return std::nullopt;
    }
    return Operand{unary.op == Operator::minus ? -*real : *real};
  }

  Integer apply(Operator op, Integer value) const {
    if (op == Operator::minus) return -value;
    if (op == Operator::plus) return value;
    const auto range = wanted_ == TypeId::none ? std::nullopt : integer_range(model_.resolved(wanted_).kind);
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
    if (std::holds_alternative<Integer>(*left))
      return combine(binary, std::get<Integer>(*left), std::get<Integer>(*right), whole.span);
    if (std::holds_alternative<double>(*left))
      return combine(binary, std::get<double>(*left), std::get<double>(*right), whole.span);
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

  std::optional<Operand> combine(const ast::Binary& binary, double left, double right, const Span& at) {
    double value = 0;
    switch (binary.op) {
      case Operator::add:
        value = left + right;
        break;
      case Operator::subtract:
        value = left - right;
        break;
      case Operator::multiply:
        value = left * right;
        break;
      case Operator::divide:
        if (right == 0) return refuse(binary.right->span, "division by zero");
        value = left / right;
        break;
      default:
        return refuse(at, "this operator does not apply to a floating-point number");
    }
    if (!std::isfinite(value)) return refuse(at, "the value is outside the range of `double`");
    return Operand{value};
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

  std::optional<Value> to_float(const Operand& operand, TypeKind kind, const Span& at) {
    const auto* value = std::get_if<double>(&operand);
    if (value == nullptr) return mismatch(operand, at);
    if (kind == TypeKind::float32 && std::fabs(*value) > double{FLT_MAX}) {
      diagnostics_.error(at, "the value is outside the range of `float`");
      return std::nullopt;
    }
    return Value{*value};
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
    const TypeKind kind = model_.resolved(wanted_).kind;
    const bool real = kind == TypeKind::float32 || kind == TypeKind::float64;
    std::string message = "expected a value of type " + quoted(types_.name(wanted_)) + ", found ";
    message += kind_of(operand);
    if (real && std::holds_alternative<Integer>(operand)) message += " (write it with a decimal point)";
    diagnostics_.error(at, std::move(message));
    return std::nullopt;
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
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Integer>) {
      if (value > std::numeric_limits<std::int64_t>::max()) return static_cast<std::uint64_t>(value);
      return static_cast<std::int64_t>(value);
    } else {
      return value;
    }
  };
  return std::visit(natural, *operand);
}

DefId Constants::named_constant(const ast::Expression& expression) {
  const auto* name = std::get_if<ast::ScopedName>(&expression.node);
  if (name == nullptr) return DefId::none;
  const Symbol* symbol = names_.resolve(*name);
  return symbol != nullptr && symbol->kind == SymbolKind::constant ? symbol->definition : DefId::none;
}

}  // namespace corelane::idl
