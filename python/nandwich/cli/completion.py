# SPDX-License-Identifier: Apache-2.0
"""Completion scripts for shells, from a walk over the parsers of all verbs.

A script holds all words itself: Tab answers at once, and starts no Python.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import click

Names = Mapping[str, Sequence[str]]


@dataclass
class Verb:
    """What may stand behind a verb; its parts (`trace info`) are taken together."""

    name: str
    words: list[str] = field(default_factory=list)  # names and parts
    flags: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)  # of an option; none: a file

    @property
    def options(self) -> list[str]:
        """All of them."""
        return sorted({*self.flags, *self.values})


def verbs(group: click.Group, names: Names) -> list[Verb]:
    """The verbs of a command. `names` has what fills a parameter, by the parameter's name."""
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            verb = Verb(name)
            _add(verb, command, {**names, "name": names["chip"] if name == "chips" else ()})
            found.append(verb)
    return found


def _add(verb: Verb, command: click.Command, names: Names) -> None:
    context = click.Context(command)
    for one in command.get_params(context):
        own = [item.value for item in one.shell_complete(context, "") if item.type == "plain"]
        known = [str(word) for word in own or names.get(str(one.name), ())]
        if not isinstance(one, click.Option):
            verb.words += known
            continue
        long = [name for name in (*one.opts, *one.secondary_opts) if name.startswith("--")]
        if one.is_flag:
            verb.flags += long
        else:
            verb.values |= dict.fromkeys(long, known)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            part = command.get_command(context, name)
            if part is not None:
                verb.words.append(name)
                _add(verb, part, names)


def _cases(found: Sequence[Verb]) -> Iterator[str]:
    """Arms of a shell's case over "VERB OPTION", the option being the word before."""
    for verb in found:
        for option, words in sorted(verb.values.items()):
            yield f'    "{verb.name} {option}") words="{" ".join(words)}" ;;'
        yield f'    "{verb.name} "*) words="{" ".join((*verb.words, *verb.options))}" ;;'


def _bash(found: Sequence[Verb]) -> str:
    return "\n".join(
        [
            "# nandwich in bash: source <(nandwich completion bash)",
            "_nandwich() {",
            # By blanks: bash itself takes gen:zipf and --ftl=page apart.
            "  local words read cur before",
            '  read -ra read <<< "${COMP_LINE:0:COMP_POINT}x"',
            '  cur="${read[-1]%x}" before="${read[-2]}"',
            '  if [[ $cur == --*=* ]]; then before="${cur%%=*}" cur="${cur#*=}"; fi',
            '  if [ "${#read[@]}" -eq 2 ]; then',
            f'    words="{" ".join(verb.name for verb in found)} --help --version"',
            "  else",
            '    case "${read[1]} $before" in',
            *_cases(found),
            "    esac",
            "  fi",
            '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
            '  if [[ $cur == *:* ]]; then COMPREPLY=("${COMPREPLY[@]#"${cur%:*}:"}"); fi',
            "}",
            "complete -o bashdefault -o default -F _nandwich nandwich",
        ]
    )


def _zsh(found: Sequence[Verb]) -> str:
    return "\n".join(
        [
            "#compdef nandwich",
            "# nandwich in zsh: source <(nandwich completion zsh), or a file _nandwich in fpath",
            "_nandwich() {",
            "  local words_of",
            "  if (( CURRENT == 2 )); then",
            f'    words_of="{" ".join(verb.name for verb in found)} --help --version"',
            "  else",
            '    case "${words[2]} ${words[CURRENT-1]}" in',
            *(line.replace('words="', 'words_of="') for line in _cases(found)),
            "    esac",
            "  fi",
            "  compadd -- ${=words_of}",
            "  [[ $PREFIX == -* ]] || _files",
            "}",
            "compdef _nandwich nandwich",
        ]
    )


def _fish(found: Sequence[Verb]) -> str:
    lines = [
        "# nandwich in fish: nandwich completion fish | source",
        f'complete -c nandwich -n __fish_use_subcommand -f -a "{" ".join(v.name for v in found)}"',
    ]
    for verb in found:
        start = f'complete -c nandwich -n "__fish_seen_subcommand_from {verb.name}"'
        if verb.words:
            lines.append(f'{start} -a "{" ".join(verb.words)}"')
        for option in verb.options:
            long = option.removeprefix("--")
            words = verb.values.get(option)
            value = "" if words is None else f' -x -a "{" ".join(words)}"' if words else " -r"
            lines.append(f"{start} -l {long}{value}")
    return "\n".join(lines)


SHELLS: dict[str, Callable[[Sequence[Verb]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
