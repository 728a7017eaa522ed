import { createServer } from 'node:http'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import type { Ran } from '../cli/run.ts'

/** A command that a shell wants carried out in this process, and all it would have as a process of its own. */
export interface Asked {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  readonly input: string
}

/** The way from a shell to this process: starting a Node for each command would take most of the time. */
export interface Bridge {
  /** Bash functions of the names of the programs. */
  readonly functions: string
  readonly close: () => Promise<void>
}

/** Opens it at a socket that nobody else has. */
export async function openBridge(
  socket: string,
  programs: readonly string[],
  carryOut: (asked: Asked) => Promise<Ran>,
): Promise<Bridge> {
  const server = createServer((request, response) => {
    void buffer(request)
      .then((body) => carryOut(askedIn(body)))
      .catch((error: unknown) => ({
        code: 99,
        stdout: '',
        stderr: error instanceof Error ? error.message : String(error),
      }))
      .then((ran) => response.end(answerOf(ran)))
  })
  server.listen(socket)
  await once(server, 'listening')
  return {
    functions: functionsFor(socket, programs),
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** The answer is a piece of shell that prints and ends as the command has. */
const functionsFor = (socket: string, programs: readonly string[]): string => `
carry_out() {
  eval "$({ printf '%s\\0' "$#" "$PWD" "$@"; env -0; printf '\\0'; cat; } |
    curl -sS --unix-socket '${socket}' --data-binary @- -H 'Expect:' http://bridge/)"
}
${programs.map((name) => `${name}() { carry_out ${name} "$@"; }`).join('\n')}
`

function askedIn(body: Buffer): Asked {
  const parts = body.toString('utf8').split('\0')
  const count = Number(parts[0])
  const [program = '', ...args] = parts.slice(2, 2 + count)
  const rest = parts.slice(2 + count)
  const end = rest.indexOf('')
  const variables = rest.slice(0, end).map((one) => {
    const at = one.indexOf('=')
    return [one.slice(0, at), one.slice(at + 1)] as const
  })
  return {
    ...{ program, args, cwd: parts[1] ?? '/', variables: Object.fromEntries(variables) },
    input: rest.slice(end + 1).join('\0'),
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const answerOf = ({ code, stdout, stderr }: Ran): string =>
  `printf %s ${quoted(stdout)}; printf %s ${quoted(stderr)} >&2; return ${code}`
