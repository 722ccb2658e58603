"""Checks the language of comments, string literals, names of tests and documents. lint.py runs these rules.

The rules keep a floor: no "he" for a thing, no sentence that begins with "Who" and is no question, no metaphor where the
field has a word, and no sentence of a document that is longer than LONGEST_SENTENCE words.
"""
import io
import re
import tokenize
from collections import namedtuple

LONGEST_SENTENCE = 40  # words, in documents

# The metaphors, with the words to use instead. A name in the code may be one: in backquotes, in CamelCase or snake_case.
METAPHORS = {
    "berth": "memory for a message",
    "door": "socket, acceptor",
    "glance": "poll",
    "inlet": "connection",
    "neighbor": "another process, another task",
    "neighbour": "another process, another task",
    "newcomer": "new task, new connection",
}

PRONOUN = re.compile(r"\b(he|him|his|himself|whom|whomever)\b", re.IGNORECASE)
WHO = re.compile(r"^(who|whoever)\b", re.IGNORECASE)
METAPHOR = re.compile(rf"(?<![\w.:/-])({'|'.join(METAPHORS)})s?(?![\w(/-]|\.\w|::)")

LINE_COMMENT = ("CMakeLists.txt", ".cmake", ".sh", ".toml", ".yml", "dev")  # `#` begins a comment
CXX = (".h", ".cpp", ".c", ".idl", ".rs", ".proto")
TOKEN = re.compile(
    r'R"(?P<mark>[^()\\ ]{0,16})\((?P<raw>.*?)\)(?P=mark)"|"(?P<string>(?:\\.|[^"\\\n])*)"|'
    r"'(?:\\.|[^'\\\n])+'|//(?P<comment>[^\n]*)|/\*(?P<block>.*?)\*/", re.DOTALL)
QUOTES = re.compile(r"^\w*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")  # of a literal in Python
DIGIT_SEPARATOR = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")
TEST_MACRO = re.compile(r"\b(?:TEST_CASE|SCENARIO|SECTION|(?:TEMPLATE|TEMPLATE_LIST)_TEST_CASE)\(\s*$")

# A piece of prose. `kind` is comment, string, name (of a test) or document. `starts` has pairs: where in the text a line
# of the file begins, and the line's number.
Text = namedtuple("Text", "kind text starts")


def line_at(text, offset):
    """Returns the line of the file that has the character at `offset` of the text."""
    return [line for start, line in text.starts if start <= offset][-1]


class Collector:
    """Joins comments of consecutive lines, and string literals with only blanks between them, into one text each."""

    def __init__(self):
        self.texts = []
        self.open = None  # kind of the text that may go on

    def add(self, kind, line, text, follows):
        text = re.sub(r"\s+", " ", text) if kind == "comment" else text
        if follows and self.open == kind:
            last = self.texts[-1]
            joined = last.text + (" " if kind == "comment" else "")
            self.texts[-1] = Text(last.kind, joined + text, last.starts + [(len(joined), line)])
        else:
            self.texts.append(Text(kind, text, [(0, line)]))
        self.open = kind


def texts_of_cxx(lines):
    """Returns comments and string literals of C++ and IDL."""
    source = DIGIT_SEPARATOR.sub("_", "\n".join(lines))
    found, end, line = Collector(), 0, 1
    for match in TOKEN.finditer(source):
        between = source[end:match.start()]
        line += source.count("\n", end, match.start())
        if match["comment"] is not None:
            alone = not source[source.rfind("\n", 0, match.start()) + 1:match.start()].strip()
            found.add("comment", line, match["comment"].strip(), alone and not between.strip() and between.count("\n") < 2)
        elif match["block"] is not None:
            found.add("comment", line, match["block"].strip(), False)
        elif match["raw"] is not None:
            found.open = None
            for offset, piece in enumerate(match["raw"].split("\n")):
                found.add("string", line + offset, piece, False)
        elif match["string"] is not None:
            is_name = TEST_MACRO.search(source, max(0, match.start() - 60), match.start())
            kind = "name" if is_name else "name" if found.open == "name" and not between.strip() else "string"
            found.add(kind, line, match["string"].replace("\\n", " ").replace("\\t", " "), not between.strip())
        line += source.count("\n", match.start(), match.end())
        end = match.end()
    return found.texts


def texts_of_python(lines):
    """Returns comments and string literals of a Python program."""
    found, end = Collector(), (0, 0)
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            if token.type == tokenize.COMMENT:
                alone = not token.line[:token.start[1]].strip()
                found.add("comment", token.start[0], token.string.lstrip("#! "), alone and end[0] == token.start[0] - 1)
                end = token.end
            elif token.type == tokenize.STRING:
                for offset, piece in enumerate(QUOTES.sub("", token.string).split("\n")):
                    found.add("string", token.start[0] + offset, piece.strip().replace("\\n", " "), offset > 0)
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                found.open = None
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # not Python that this interpreter reads
    return found.texts


def texts_of_script(lines):
    """Returns the comments of CMake and shell files, and of TOML."""
    found, last = Collector(), 0
    for number, line in enumerate(lines, 1):
        match = re.search(r"(?:^|\s)#(?!!)(.*)", line)
        if match:
            alone = not line[:match.start()].strip()
            found.add("comment", number, match[1].strip(), alone and last == number - 1)
            last = number
    return found.texts


def texts_of_document(lines):
    """Returns the paragraphs, list items and headings of a Markdown file. Tables and code are none."""
    found, fenced, last, indent = Collector(), False, 0, 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        is_item = re.match(r"\s*(?:[-*+]|\d+\.)\s+", line)
        is_code = line.startswith("    ") and not is_item and last != number - 1
        if fenced or not text or is_code or text.startswith(("|", "<!--", "!")):
            last = 0 if not text or fenced else last
            continue
        starts = is_item or text.startswith("#")
        found.add("comment", number, re.sub(r"^(?:[-*+]|\d+\.|#+|>)\s+", "", text), not starts and last == number - 1)
        last = 0 if text.startswith("#") else number
    return [Text("document", *text[1:]) for text in found.texts]


def texts_of(path, lines):
    if path.endswith(CXX):
        return texts_of_cxx(lines)
    if path.endswith(".py"):
        return texts_of_python(lines)
    if path.endswith(".md"):
        return texts_of_document(lines)
    return texts_of_script(lines) if path.endswith(LINE_COMMENT) else []


def without_code(text):
    """Returns the text with each piece of code in backquotes replaced by as many `X`."""
    return re.sub(r"`[^`]*`", lambda match: "X" * len(match[0]), text)


def sentences_of(text):
    """Yields offset and text of each sentence."""
    start = 0
    for match in re.finditer(r"(?:[.!?][)\"'*_]*(?=\s+[^a-z\s])|[.!?][)\"'*_]*$)\s*", text):
        yield start, text[start:match.end()]
        start = match.end()
    if text[start:].strip():
        yield start, text[start:]


def check_text(text):
    """Yields line and message of each finding in one text."""
    prose = without_code(text.text)
    for match in PRONOUN.finditer(prose):
        yield line_at(text, match.start()), f'"{match[0]}" of a thing; a thing is "it", "that" or "which"'
    for match in METAPHOR.finditer(prose):
        if " " not in text.text or text.text.startswith("namespace "):
            continue  # a value or a name
        yield line_at(text, match.start()), \
            f'"{match[0]}" is a metaphor; say {METAPHORS[match[1]]}, or `{match[0]}` where it is a name'
    for start, sentence in sentences_of(prose):
        if WHO.match(sentence) and (sentence[0] == "W" or text.kind == "name") and not sentence.rstrip(" )\"'*_").endswith("?"):
            yield line_at(text, start), f'a sentence begins with "{sentence.split()[0]}"; begin with what acts'
        words = len(sentence.split())
        if text.kind == "document" and words > LONGEST_SENTENCE:
            yield line_at(text, start), f"a sentence of {words} words; at most {LONGEST_SENTENCE}, one fact each"


def check_language(path, lines):
    """Yields line and message of each finding in a file."""
    if "/golden/" in path or path.startswith("tests/lint/"):
        return  # generated, or the words that are looked for
    for text in texts_of(path, lines):
        yield from check_text(text)

