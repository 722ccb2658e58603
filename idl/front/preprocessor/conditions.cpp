// The part of Boost.Wave that evaluates #if, compiled here with wrapping integers (CMakeLists.txt). It is linked in
// place of the library's own code. The library is compiled without that option. There -9223372036854775808 / -1 passes
// the check for it, and SIGFPE ends the process.
#include <boost/wave.hpp>
#include <boost/wave/cpplexer/cpp_lex_token.hpp>
#include <boost/wave/grammars/cpp_chlit_grammar.hpp>
#include <boost/wave/grammars/cpp_expression_grammar.hpp>
#include <boost/wave/grammars/cpp_intlit_grammar.hpp>

namespace boost::wave::grammars {

using Token = cpplexer::lex_token<>;
template struct intlit_grammar_gen<Token>;
template struct chlit_grammar_gen<int, Token>;
template struct chlit_grammar_gen<unsigned int, Token>;
template struct expression_grammar_gen<Token>;

}  // namespace boost::wave::grammars
