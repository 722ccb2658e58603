// Generates the shell completion from the command definitions, so that it has all of their options.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "orb/core/settings.h"
#include "services/corelane/commands/command.h"

namespace corelane::tool {
namespace {

// The lines that let zsh use bash's completions.
constexpr const char* zsh_beginning =
    "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
    "autoload -Uz bashcompinit && bashcompinit\n";

// Lines of bash for all commands.
struct Completed {
  std::string known;   // the words that lead to another command
  std::string words;   // the words that may follow
  std::string values;  // the values that may follow an option
};

// Returns all -ORB options.
std::string orb_words() {
  std::string words;
  for (const core::SettingsEntry& entry : core::settings_table()) words += core::option_of(entry.key) + " ";
  return words + "-ORBConfig -ORBInitRef -ORBDefaultInitRef -ORBid";
}

// `path` has a space before each of its commands, so that the name of a file or object is not taken for a command.
void complete(const CLI::App& app, const std::string& path, Completed& completed) {
  std::string words;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    words += command->get_name() + " ";
    completed.known += (completed.known.empty() ? "'" : " | '") + path + " " + command->get_name() + "'";
    complete(*command, path + " " + command->get_name(), completed);
  }
  for (const CLI::Option* const option : app.get_options()) {
    std::string values = option->get_type_name();
    const bool is_choice = values.find('|') != values.npos;
    std::ranges::replace(values, '|', ' ');
    if (option->get_positional() && is_choice) words += values + " ";
    std::vector<std::string> names;  // the option's names. Without choices, its value is any word, or a file
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : names) {
      words += name + " ";
      if (is_choice) completed.values += "    '" + path + ":" + name + "') words='" + values + "' ;;\n";
      if (!is_choice && option->get_expected_max() > 0)
        completed.values += "    '" + path + ":" + name + "') words= ;;\n";
    }
  }
  completed.words += "    '" + path + "') words='" + words + "' ;;\n";
}

// bash splits a word at each =, and completes the part after it.
std::string bash_script(const CLI::App& root) {
  Completed completed;
  complete(root, "", completed);
  return R"(# Completion of corelane for bash, and zsh with bashcompinit, printed by: corelane completion bash
_corelane() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word words=
  for word in "${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$command $word" in
    *" --") COMPREPLY=(); return ;;  # another program's words
    )" + completed.known +
         R"() command+=" $word" ;;
    esac
  done
  [[ $previous == "=" ]] && previous=${COMP_WORDS[COMP_CWORD-2]}
  [[ $current == "=" ]] && current=
  case "$command" in
)" + completed.words +
         R"(  esac
  case "$command:$previous" in
)" + completed.values +
         R"(    *:-ORB*) words= ;;
  esac
  [[ $current == -ORB* ]] && words=')" +
         orb_words() +
         R"('
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _corelane corelane
)";
}

}  // namespace

Action define_completion(CLI::App& app, std::vector<std::string>&) {
  app.footer(
      "In this bash: source <(corelane completion bash). An installed Corelane has it in "
      "share/bash-completion/completions already. For zsh, in .zshrc: source <(corelane completion zsh). Exit status: "
      "0 printed, 2 the command line was wrong.");
  const auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "shell to print the completion for")
      ->type_name("bash|zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}).description(""));
  return [&app, shell](const ToolSettings&) {
    if (*shell == "zsh") std::cout << zsh_beginning;
    std::cout << bash_script(*app.get_parent());
    return 0;
  };
}

}  // namespace corelane::tool
