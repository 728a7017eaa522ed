import { commandRefusal, type CommandRules } from './command/options.ts'
import type { Look } from '../core/probe/asked.ts'
import { LARGEST_SIGHT, type CommandProbe, type HttpProbe } from '../domain/probe/probe.ts'
import { readSight, type Sight } from '../core/probe/verdict.ts'
import type { AnswerHeaders, OutboundAnswer } from '../outbound/request.ts'
import type { Outbound } from '../outbound/send.ts'
import { runProcess } from './command/process.ts'
import { directoryOf } from './command/execute.ts'

export interface LookOptions {
  readonly send: Outbound['send']
  /** What the operator lets be started at this moment. */
  readonly rules: () => CommandRules
  /** As whom programs run; null: as ourselves. */
  readonly account: { readonly uid: number; readonly gid: number } | null
}

/** Looks outside for probes: over HTTP through the guard, or by a program that the operator permits. */
export const createLook =
  (options: LookOptions): Look =>
  (probe, signal) =>
    probe.kind === 'http' ? lookOver(options, probe, signal) : start(options, probe, signal)

const failed = (message: string): Sight => ({ kind: 'failed', message })

async function lookOver({ send }: LookOptions, probe: HttpProbe, signal: AbortSignal): Promise<Sight> {
  const { url, method, headers, body } = probe
  const answer = await send({
    ...{ url, method, body, signal, maxBytes: LARGEST_SIGHT, purpose: 'probe' },
    headers: { accept: 'application/json, text/plain;q=0.9, */*;q=0.5', ...typeOf(probe), ...headers },
    timeoutMs: probe.timeoutSeconds * 1_000,
    // A header may be a credential: it goes where it was meant to, and nowhere else.
    bound: Object.keys(headers).length > 0,
  })
  return answer.kind === 'answered' ? sightOf(probe, answer) : failed(answer.message)
}

/** What is sent looks like what it is, unless somebody says otherwise. */
function typeOf({ body, headers }: HttpProbe): Readonly<Record<string, string>> {
  if (body === null || Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')) return {}
  return { 'content-type': typeof readSight(body) === 'object' ? 'application/json' : 'text/plain; charset=utf-8' }
}

type Answered = Extract<OutboundAnswer, { readonly kind: 'answered' }>

function sightOf({ method, changed }: HttpProbe, { status, headers, body }: Answered): Sight {
  const how = `it answered ${status}`
  // Only whoever has sent a condition of its own is told that nothing is new.
  if (status === 304) return { kind: 'nothing', how: `${how}, not modified` }
  if (status < 200 || status > 299) return failed(how)
  if (method === 'HEAD') {
    const mark = markOf(headers)
    if (changed !== null && mark === null) return failed(`${how} without an ETag or a Last-Modified to compare`)
    return { kind: 'seen', value: mark ?? status, how, mark }
  }
  const text = body.toString('utf8').trim()
  if (text === '') return { kind: 'nothing', how: `${how} with nothing in it` }
  return { kind: 'seen', value: readSight(text), how, mark: null }
}

const markOf = (headers: AnswerHeaders): string | null => {
  const mark = headers['etag'] ?? headers['last-modified']
  return typeof mark === 'string' ? mark : null
}

/** Shorter than the grace of a run that is stopped. */
const KILL_AFTER_MS = 2_000

async function start(options: LookOptions, probe: CommandProbe, outer: AbortSignal): Promise<Sight> {
  const { program, args, timeoutSeconds } = probe
  const rules = options.rules()
  const command = { program, cwd: probe.directory }
  const refusal = commandRefusal(command, rules)
  if (refusal !== null) return failed(`${refusal.field === 'cwd' ? 'directory' : refusal.field} ${refusal.message}`)
  const cwd = await directoryOf(command, rules)
  if (typeof cwd !== 'string') return failed(cwd.flaw)
  const late = AbortSignal.timeout(timeoutSeconds * 1_000)
  const end = await runProcess({
    ...{ program, args, cwd, env: {}, stdin: '', account: options.account, maxBytes: LARGEST_SIGHT },
    ...{ signal: AbortSignal.any([outer, late]), killAfterMs: KILL_AFTER_MS, heard: () => undefined },
  })
  switch (end.kind) {
    case 'not_started':
      return failed(`${program} could not be started: ${end.message}`)
    case 'stopped':
      return failed(late.aborted ? `it did not end within ${timeoutSeconds} s` : 'it was stopped')
    case 'too_large':
      return failed(`it has written more than ${LARGEST_SIGHT} bytes`)
    case 'exited':
      return exited(end)
  }
}

/** As `grep` has it: 0 is yes, 1 is no, everything else went wrong. */
function exited(end: {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}): Sight {
  const { code, stdout, stderr } = end
  const how = code === null ? `it was ended by ${end.signal ?? 'a signal'}` : `it ended with exit code ${code}`
  if (code === 1) return { kind: 'nothing', how }
  if (code !== 0) return failed(stderr === '' ? how : `${how}: ${stderr.slice(-500)}`)
  return { kind: 'seen', value: readSight(stdout.trim()), how, mark: null }
}
