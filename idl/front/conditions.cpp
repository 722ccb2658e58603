// What Boost.Wave computes #if with, compiled here with integers that wrap (CMakeLists.txt). In the library as it is
// built without, -9223372036854775808 / -1 slips through the check made for it, and SIGFPE ends the process. This one
// is linked in its place.
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
