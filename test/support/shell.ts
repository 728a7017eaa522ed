import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** What a command printed, to both of its outputs, and how it ended. */
export interface Typed {
  readonly output: string
  readonly code: number
}

/** A bash that somebody types into. */
export interface Shell {
  /** Types a command and answers what was printed; with `until`, as soon as that was said. */
  readonly type: (command: string, until?: string) => Promise<string>
  /** The same for lines that belong together and read nothing from whoever types; what they set stays. */
  readonly run: (commands: string) => Promise<Typed>
  readonly end: () => Promise<void>
}

/** Opens one in a directory, with this environment and no other. */
export async function openShell(cwd: string, env: Readonly<Record<string, string>>): Promise<Shell> {
  const child: ChildProcess = spawn('bash', ['--norc', '--noprofile'], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const { heard, forget } = listenTo(child)
  const ended = once(child, 'close')
  const write = (text: string): void => void child.stdin?.write(`${text}\n`)
  let count = 0
  const type: Shell['type'] = async (command, until) => {
    const mark = `--- ${(count += 1)} ---`
    forget()
    write(command)
    if (until !== undefined) await heard(until)
    write(`printf '%s\\n' '${mark}'`)
    return (await heard(`${mark}\n`)).replace(`${mark}\n`, '').trim()
  }
  const run: Shell['run'] = async (commands) => {
    const mark = `--- ${(count += 1)} ---`
    forget()
    write(`{ ${commands}\n} </dev/null 2>&1; printf '\\n%s\\n' "${mark} $? ---"`)
    const [output = '', code = ''] = (await heard(/--- \d+ --- \d+ ---\n/)).split(`\n${mark} `)
    return { output, code: Number.parseInt(code, 10) }
  }
  // Jobs have numbers, as they have for whoever sits at a terminal.
  await type('set -m')
  const end = async (): Promise<void> => {
    child.stdin?.end('kill %1 2>/dev/null; wait\n')
    await ended
  }
  return { type, run, end }
}

interface Ear {
  /** Resolves with everything said so far as soon as this is in it. */
  readonly heard: (what: string | RegExp) => Promise<string>
  readonly forget: () => void
}

function listenTo(child: ChildProcess): Ear {
  let said = ''
  const waiting = new Set<() => void>()
  const hear = (chunk: Buffer): void => {
    said += chunk.toString('utf8')
    for (const check of [...waiting]) check()
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  const heard: Ear['heard'] = (what) =>
    new Promise((resolve) => {
      const check = (): void => {
        if (typeof what === 'string' ? !said.includes(what) : !what.test(said)) return
        waiting.delete(check)
        resolve(said)
      }
      waiting.add(check)
      check()
    })
  return { heard, forget: () => (said = '') }
}
