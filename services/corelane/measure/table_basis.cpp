#include "services/corelane/measure/table_basis.h"

#include <cstddef>

#include "services/corelane/measure/measurement.h"

namespace corelane::tool {
namespace {

struct Term {
  std::string name;
  bool is_given;
  Duration value;

  std::string text() const { return name + " " + to_string(value); }
};

// Returns the terms that were not given.
std::vector<Term> open_terms(const GivenTerms& given, const Contract& contract) {
  std::vector<Term> terms{{"period", given.period.has_value(), contract.period},
                          {"deadline", given.deadline.has_value(), contract.deadline},
                          {"jitter", given.jitter.has_value(), contract.jitter}};
  std::erase_if(terms, [](const Term& term) { return term.is_given; });
  return terms;
}

// Returns "period 20ms, deadline 20ms and jitter 2ms".
std::string list_of(const std::vector<Term>& terms) {
  std::string text;
  for (std::size_t i = 0; i < terms.size(); ++i)
    text += (i == 0 ? "" : i + 1 == terms.size() ? " and " : ", ") + terms[i].text();
  return text;
}

// `own` has the same terms as the server has them. A term that differs has followed a given one.
std::string kept_text(const std::vector<Term>& terms, const std::vector<Term>& own) {
  std::vector<Term> kept, followed;
  for (std::size_t i = 0; i < terms.size(); ++i) (terms[i].value == own[i].value ? kept : followed).push_back(terms[i]);
  std::string text = list_of(kept);
  if (!kept.empty()) text += kept.size() == 1 ? " as the server has it" : " as the server has them";
  if (!kept.empty() && !followed.empty()) text += ", ";
  return text + list_of(followed) + (followed.empty() ? "" : " by default, as in the server");
}

Duration default_jitter(const Contract& contract) {
  return make_contract(contract.period, contract.budget, contract.deadline).jitter;
}

Contract with_given(const GivenTerms& given, const Contract& own) {
  Contract contract = own;
  contract.period = given.period.value_or(own.period);
  contract.deadline = given.deadline.value_or(own.deadline == own.period ? contract.period : own.deadline);
  contract.jitter = given.jitter.value_or(own.jitter == default_jitter(own) ? default_jitter(contract) : own.jitter);
  return contract;
}

const std::string none_shown = "the server shows no contract of its own for it";
const std::string several = "the server has several contracts for it";

void assume(TableBasis& basis, const std::vector<Term>& terms, const std::string& why) {
  for (const Term& term : terms) basis.assumed.push_back(term.name);
  basis.note = list_of(terms) + why;
}

}  // namespace

TableBasis basis_of_calls(const GivenTerms& given, const Contract& called, const std::vector<Contract>& own) {
  const bool keeps = own.size() == 1;
  TableBasis basis{.contract = keeps ? with_given(given, own.front()) : called};
  const std::vector<Term> open = open_terms(given, basis.contract);
  if (open.empty()) return basis;
  if (keeps)
    basis.note = kept_text(open, open_terms(given, own.front()));
  else
    assume(basis, open, " assumed: " + (own.empty() ? none_shown + ", and no IDL was read" : several));
  return basis;
}

TableBasis basis_of_jobs(const Contract& seen, const std::vector<Contract>& own) {
  if (own.size() == 1 && terms_of(seen) == own.front()) return {.contract = seen};
  if (own.size() == 1) return basis_of_calls({}, seen, own);
  TableBasis basis{.contract = make_contract(seen.period, seen.budget, seen.deadline, seen.jitter)};
  std::vector<Term> terms = open_terms({}, seen);
  basis.contract.suspension = seen.suspension;
  if (seen.suspension > Duration::zero()) terms.push_back({"suspension", false, seen.suspension});
  assume(basis, terms, " are those of one of its tasks: " + (own.empty() ? none_shown : several));
  return basis;
}

}  // namespace corelane::tool
