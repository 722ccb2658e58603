#include "idl/sema/constants/constants.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "idl/sema/constants/conversion.h"
#include "idl/sema/constants/decimal.h"
#include "idl/sema/constants/operand.h"

namespace corelane::idl {
namespace {

using ast::Operator;
constexpr Integer smallest = std::numeric_limits<std::int64_t>::min();
constexpr Integer largest = std::numeric_limits<std::uint64_t>::max();

// Evaluates one expression. The wanted type decides what `~` means.
class Evaluation {
 public:
  Evaluation(const Model& model, Names& names, Diagnostics& diagnostics, TypeId wanted)
      : model_(model), names_(names), diagnostics_(diagnostics), wanted_(wanted) {}

  std::optional<Operand> fold(const ast::Expression& expression) {
    // recursion: the parser limits the depth of expressions
    return std::visit([&](const auto& node) { return of(node, expression); }, expression.node);
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

  // Returns a bit of the wanted bitmask. Its name needs no qualification.
  std::optional<Operand> bit_of(const ast::ScopedName& name) const {
    if (!is_bitmask_wanted() || name.parts.size() != 1 || name.absolute) return std::nullopt;
    for (const Bit& bit : std::get<Bitmask>(definition().body).bits)
      if (bit.name == name.parts.front().text) return Operand{Integer{1} << static_cast<int>(bit.position)};
    return std::nullopt;
  }

  // Returns the enumerator. A bit becomes a number if its bitmask is wanted.
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
    if (value < 0) return -value - 1;  // in an unsigned type, too, where it stands for the bits of its two's complement
    const auto range = wanted_ == TypeId::none ? std::nullopt : integer_range(model_.resolved(wanted_).kind);
    if (!range && is_bitmask_wanted()) return lowest_bits(std::get<Bitmask>(definition().body).bit_bound) - value;
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
        if (const auto value = shifted_complement(left, right)) return Operand{*value};
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

  // Evaluates for example ~0 << 8 as an unsigned number: the shift may drop bits at the upper end if they are all ones.
  std::optional<Integer> shifted_complement(Integer left, Integer right) const {
    const auto range = wanted_ == TypeId::none ? std::nullopt : integer_range(model_.resolved(wanted_).kind);
    if (!range || range->low != 0 || left < 0 || left > range->high || right == 0) return std::nullopt;
    const auto bits = static_cast<Integer>(std::bit_width(static_cast<std::uint64_t>(range->high)));
    if (right >= bits) return std::nullopt;
    const Integer ones = (Integer{1} << static_cast<int>(right)) - 1;
    if (left >> static_cast<int>(bits - right) != ones) return std::nullopt;
    return left << static_cast<int>(right) & range->high;
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

  const Model& model_;
  Names& names_;
  Diagnostics& diagnostics_;
  const TypeId wanted_;
};

}  // namespace

std::optional<Value> Constants::evaluate(const ast::Expression& expression, TypeId type) {
  const std::optional<Operand> operand = Evaluation(model_, names_, diagnostics_, type).fold(expression);
  if (!operand) return std::nullopt;
  return Conversion(model_, types_, diagnostics_, type).convert(*operand, expression.span);
}

std::optional<Value> Constants::evaluate(const ast::Expression& expression) {
  const std::optional<Operand> operand = Evaluation(model_, names_, diagnostics_, TypeId::none).fold(expression);
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
  return Conversion(model_, types_, diagnostics_, type).convert(std::visit(ToOperand{}, value), at);
}

bool Constants::check_type(TypeId type, const Span& at) {
  switch (model_.resolved(type).kind) {
    case TypeKind::any:
    case TypeKind::object:
    case TypeKind::value_base:
    case TypeKind::type_code:
    case TypeKind::sequence:
    case TypeKind::array:
    case TypeKind::map:
    case TypeKind::external:
    case TypeKind::structure:
    case TypeKind::union_:
    case TypeKind::bitset:
    case TypeKind::interface:
    case TypeKind::value:
    case TypeKind::value_box:
    case TypeKind::native:
      diagnostics_.error(at, "a constant cannot be of type " + quoted(types_.name(type)));
      return false;
    default:
      return true;
  }
}

DefId Constants::named_constant(const ast::Expression& expression) {
  const auto* name = std::get_if<ast::ScopedName>(&expression.node);
  if (name == nullptr) return DefId::none;
  const Symbol* symbol = names_.resolve(*name);
  return symbol != nullptr && symbol->kind == SymbolKind::constant ? symbol->definition : DefId::none;
}

}  // namespace corelane::idl
