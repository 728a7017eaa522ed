/** A command that needs no shell: the program and what it is given. */
export interface PlainCommand {
  readonly program: string
  readonly args: readonly string[]
}

/** Characters that mean nothing to a shell. */
const PLAIN = String.raw`[A-Za-z0-9_./+@:,=%^-]+`
const WORD = new RegExp(String.raw`(?:${PLAIN}|'[^']*'|"[^"$\x60\\!]*")+`, 'uy')

/**
 * The program and the arguments of a command line that every shell reads alike: a path from the root and words without
 * anything that a shell would act on. Null: only a shell knows what it means.
 */
export function plainCommand(command: string): PlainCommand | null {
  const words: string[] = []
  let at = 0
  while (at < command.length) {
    WORD.lastIndex = at
    const word = WORD.exec(command)?.[0]
    if (word === undefined) return null
    words.push(
      word.replaceAll(
        /'([^']*)'|"([^"]*)"/gu,
        (_, single: string | undefined, double: string | undefined) => single ?? double ?? '',
      ),
    )
    at += word.length
    const blank = /^[ \t]+/u.exec(command.slice(at))?.[0].length ?? 0
    if (blank === 0 && at < command.length) return null
    at += blank
  }
  const [program = '', ...args] = words
  return program.startsWith('/') && !program.split('/').includes('..') ? { program, args } : null
}
