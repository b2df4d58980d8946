# SPDX-License-Identifier: Apache-2.0
"""Completion scripts for shells, from a walk over the parsers of all verbs.

A script holds all words itself: Tab answers at once, and starts no Python. Behind a comma in the
value of an option the same words are offered again: lists are made so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import click

Names = Mapping[str, Sequence[str]]


@dataclass
class Verb:
    """What may stand behind a verb, or behind a part of one (`trace info`)."""

    name: str
    words: list[str] = field(default_factory=list)  # names and parts
    flags: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)  # of an option; none: a file
    parts: list["Verb"] = field(default_factory=list)

    @property
    def options(self) -> list[str]:
        """All of them."""
        return sorted({*self.flags, *self.values})


def verbs(group: click.Group, names: Names, own: Mapping[str, Names]) -> list[Verb]:
    """The verbs of a command. `names` has what fills a parameter, by the parameter's name; `own`
    what fills another one of that name, by the verb's."""
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            found.append(_verb(name, command, {**names, **own.get(name, {})}))
    return found


def _verb(name: str, command: click.Command, names: Names) -> Verb:
    verb = Verb(name)
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
                verb.parts.append(_verb(name, part, names))
    return verb


def _cases(found: Sequence[Verb], before: str = "") -> Iterator[str]:
    """Arms of a shell's case over "VERB[ PART]|OPTION", the option being the word before."""
    for verb in found:
        name = before + verb.name
        for option, words in sorted(verb.values.items()):
            yield f'    "{name}|{option}") words="{" ".join(words)}" ;;'
        yield f'    "{name}|"*) words="{" ".join((*verb.words, *verb.options))}" ;;'
        yield from _cases(verb.parts, f"{name} ")


def _parts(found: Sequence[Verb]) -> str:
    """The pattern of all "VERB PART"."""
    return "|".join(f'"{verb.name} {part.name}"' for verb in found for part in verb.parts)


def _bash(found: Sequence[Verb]) -> str:
    return "\n".join(
        [
            "# nandwich in bash: source <(nandwich completion bash)",
            "_nandwich() {",
            # By blanks: bash itself takes gen:zipf and --ftl=page apart.
            "  local words read cur before verb word list=",
            '  read -ra read <<< "${COMP_LINE:0:COMP_POINT}x"',
            '  cur="${read[-1]%x}" before="${read[-2]}" verb="${read[1]}"',
            '  if [[ $cur == --*=* ]]; then before="${cur%%=*}" cur="${cur#*=}"; fi',
            '  if [[ $before == --* && $cur == *,* ]]; then list="${cur%,*}," cur="${cur##*,}"; fi',
            '  if [ "${#read[@]}" -eq 2 ]; then',
            f'    words="{" ".join(verb.name for verb in found)} --help --version"',
            "  else",
            '    for word in "${read[@]:2:${#read[@]}-3}"; do',
            f'      case "$verb $word" in {_parts(found)}) verb="$verb $word"; break ;; esac',
            "    done",
            '    case "$verb|$before" in',
            *_cases(found),
            "    esac",
            "  fi",
            '  COMPREPLY=($(compgen -P "$list" -W "$words" -- "$cur"))',
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
            "  local words_of verb word before",
            "  if (( CURRENT == 2 )); then",
            f'    words_of="{" ".join(verb.name for verb in found)} --help --version"',
            "  else",
            '    verb="${words[2]}" before="${words[CURRENT-1]}"',
            '    for word in "${(@)words[3,CURRENT-1]}"; do',
            f'      case "$verb $word" in {_parts(found)}) verb="$verb $word"; break ;; esac',
            "    done",
            '    case "$verb|$before" in',
            *(line.replace('words="', 'words_of="') for line in _cases(found)),
            "    esac",
            "    if [[ $before == --* ]]; then compset -P '*,'; fi",
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
        seen = f"__fish_seen_subcommand_from {verb.name}"
        no_part = "; and not __fish_seen_subcommand_from " + " ".join(
            part.name for part in verb.parts
        )
        lines += _fish_of(verb, seen + no_part * bool(verb.parts))
        for part in verb.parts:
            lines += _fish_of(part, f"{seen}; and __fish_seen_subcommand_from {part.name}")
    return "\n".join(lines)


def _fish_of(verb: Verb, seen: str) -> Iterator[str]:
    start = f'complete -c nandwich -n "{seen}"'
    if verb.words:
        yield f'{start} -a "{" ".join(verb.words)}"'
    for option in verb.options:
        words = verb.values.get(option)
        value = f' -x -a "(__fish_append , {" ".join(words)})"' if words else " -r"
        yield f"{start} -l {option.removeprefix('--')}{'' if words is None else value}"


SHELLS: dict[str, Callable[[Sequence[Verb]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
