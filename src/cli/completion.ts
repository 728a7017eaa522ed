import type { Command } from 'commander'
import type { CliContext } from './remote/call.ts'
import { EXIT, write } from './terminal.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** A node in the command tree: the words that lead to it, and the candidates after them. */
interface CommandNode {
  readonly words: readonly string[]
  readonly candidates: readonly Candidate[]
}

interface Candidate {
  readonly word: string
  readonly about: string
}

/** `escapement completion SHELL`: prints a script that completes all commands and options. */
export const completionOf =
  (loadProgram: (cli: CliContext) => Promise<Command>) =>
  (command: Command, cli: CliContext): void => {
    command.action(async (shell: string) => {
      if (isShell(shell)) {
        await write(cli.terminal.stdout, scriptFor(shell, commandNodesOf(await loadProgram(cli), [])))
        cli.settle(EXIT.ok)
        return
      }
      const message = `Unknown shell "${shell}". Allowed: ${SHELLS.join(', ')}`
      await write(cli.terminal.stderr, `${message}\n`)
      cli.settle(EXIT.usage)
    })
  }

const isShell = (text: string): text is Shell => (SHELLS as readonly string[]).includes(text)

function commandNodesOf(command: Command, words: readonly string[]): readonly CommandNode[] {
  const follow = [
    ...command.commands.map((one) => ({ word: one.name(), about: one.description() })),
    ...command.options.flatMap(({ long, description, hidden }) =>
      typeof long === 'string' && !hidden ? [{ word: long, about: description }] : [],
    ),
  ]
  return [
    { words, candidates: follow },
    ...command.commands.flatMap((one) => commandNodesOf(one, [...words, one.name()])),
  ]
}

function scriptFor(shell: Shell, stops: readonly CommandNode[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(stops)
    case 'zsh':
      return `#compdef escapement\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(stops)}`
    case 'fish':
      return fishScript(stops)
  }
}

/** Finds the stop from the words before the cursor; skips arguments and options between them. */
const bashScript = (stops: readonly CommandNode[]): string =>
  [
    '# escapement completion: source this file, or save it in the completions directory of your shell',
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
    ...stops.map(({ words, candidates: follow }) => {
      const stop = words.length === 0 ? '' : `/${words.join('/')}`
      return `    "${stop}") follow="${follow.map(({ word }) => word).join(' ')}" ;;`
    }),
    '  esac',
    '  COMPREPLY=($(compgen -W "$follow" -- "$current"))',
    '}',
    'complete -o default -F _escapement escapement',
    '',
  ].join('\n')

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fishScript(stops: readonly CommandNode[]): string {
  const lines = stops.flatMap(({ words, candidates: follow }) => {
    const inside = words.map((word) => `__fish_seen_subcommand_from ${word}`)
    const children = follow.filter(({ word }) => !word.startsWith('--')).map(({ word }) => word)
    const outside = children.length === 0 ? [] : [`not __fish_seen_subcommand_from ${children.join(' ')}`]
    const condition = fishQuoted([...inside, ...outside].join('; and ') || 'true')
    return follow.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
      return `complete -c escapement -n ${condition} ${what} -d ${fishQuoted(about)}`
    })
  })
  return ['# escapement completion: save this file as ~/.config/fish/completions/escapement.fish', ...lines, ''].join(
    '\n',
  )
}
