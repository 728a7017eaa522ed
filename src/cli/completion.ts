import type { Command } from 'commander'
import type { Desk } from './remote/talk.ts'
import { EXIT, write } from './terminal.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** One place in the tree of commands: the words that lead there, and what can follow. */
interface Stop {
  readonly words: readonly string[]
  readonly follow: readonly Candidate[]
}

interface Candidate {
  readonly word: string
  readonly about: string
}

/** `escapement completion SHELL`: a script that completes commands and options of the whole program. */
export const completionOf =
  (whole: (desk: Desk) => Promise<Command>) =>
  (command: Command, desk: Desk): void => {
    command.action(async (shell: string) => {
      if (isShell(shell)) {
        await write(desk.terminal.stdout, scriptFor(shell, stopsOf(await whole(desk), [])))
        desk.settle(EXIT.ok)
        return
      }
      const message = `"${shell}" is no shell that is known here. Allowed: ${SHELLS.join(', ')}`
      await write(desk.terminal.stderr, `${message}\n`)
      desk.settle(EXIT.usage)
    })
  }

const isShell = (text: string): text is Shell => (SHELLS as readonly string[]).includes(text)

function stopsOf(command: Command, words: readonly string[]): readonly Stop[] {
  const follow = [
    ...command.commands.map((one) => ({ word: one.name(), about: one.description() })),
    ...command.options.flatMap(({ long, description, hidden }) =>
      typeof long === 'string' && !hidden ? [{ word: long, about: description }] : [],
    ),
  ]
  return [{ words, follow }, ...command.commands.flatMap((one) => stopsOf(one, [...words, one.name()]))]
}

function scriptFor(shell: Shell, stops: readonly Stop[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(stops)
    case 'zsh':
      return `#compdef escapement\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(stops)}`
    case 'fish':
      return fishScript(stops)
  }
}

/** The words before the cursor lead to a stop; arguments and options on the way are passed over. */
const bashScript = (stops: readonly Stop[]): string =>
  [
    '# escapement completion: source it, or keep it where your shell looks for completions',
    '_escapement() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" stop="" word follow',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$stop/$word" in',
    ...stops
      .filter(({ words }) => words.length > 0)
      .map(({ words }) => `      "/${words.join('/')}") stop="/${words.join('/')}" ;;`),
    '    esac',
    '  done',
    '  case "$stop" in',
    ...stops.map(({ words, follow }) => {
      const stop = words.length === 0 ? '' : `/${words.join('/')}`
      return `    "${stop}") follow="${follow.map(({ word }) => word).join(' ')}" ;;`
    }),
    '  esac',
    '  COMPREPLY=($(compgen -W "$follow" -- "$current"))',
    '}',
    'complete -o default -F _escapement escapement',
    '',
  ].join('\n')

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fishScript(stops: readonly Stop[]): string {
  const lines = stops.flatMap(({ words, follow }) => {
    const inside = words.map((word) => `__fish_seen_subcommand_from ${word}`)
    const children = follow.filter(({ word }) => !word.startsWith('--')).map(({ word }) => word)
    const outside = children.length === 0 ? [] : [`not __fish_seen_subcommand_from ${children.join(' ')}`]
    const place = quoted([...inside, ...outside].join('; and ') || 'true')
    return follow.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
      return `complete -c escapement -n ${place} ${what} -d ${quoted(about)}`
    })
  })
  return ['# escapement completion: keep it in ~/.config/fish/completions/escapement.fish', ...lines, ''].join('\n')
}
