import { commandRefusal, type CommandRules } from './command/options.ts'
import { type ProbeRunner, parseProbeAnswer, type ProbeResult } from '../domain/probe/verdict.ts'
import { MAX_PROBE_ANSWER_BYTES, type CommandProbe, type HttpProbe } from '../domain/probe/probe.ts'
import type { ResponseHeaders, OutboundResponse } from '../platform/outbound/request.ts'
import type { Outbound } from '../platform/outbound/send.ts'
import { runProcess } from './command/process.ts'
import { directoryOf } from './command/execute.ts'

export interface ProbeRunnerOptions {
  readonly send: Outbound['send']
  /** The operator's current rules for programs. */
  readonly rules: () => CommandRules
  /** The user that programs run as; null: the user of this process. */
  readonly account: { readonly uid: number; readonly gid: number } | null
}

/** Performs the checks of probes: over HTTP through the outbound guard, or with a program that the operator allows. */
export const createProbeRunner =
  (options: ProbeRunnerOptions): ProbeRunner =>
  (probe, signal) =>
    probe.kind === 'http' ? probeByHttp(options, probe, signal) : probeByCommand(options, probe, signal)

const failedProbe = (message: string): ProbeResult => ({ kind: 'failed', message })

async function probeByHttp({ send }: ProbeRunnerOptions, probe: HttpProbe, signal: AbortSignal): Promise<ProbeResult> {
  const { url, method, headers, body } = probe
  const answer = await send({
    ...{ url, method, body, signal, maxBytes: MAX_PROBE_ANSWER_BYTES, purpose: 'probe' },
    headers: { accept: 'application/json, text/plain;q=0.9, */*;q=0.5', ...contentTypeOf(probe), ...headers },
    timeoutMs: probe.timeoutSeconds * 1_000,
    // A header may be a credential, so redirects to other hosts are not followed.
    sameOriginOnly: Object.keys(headers).length > 0,
  })
  return answer.kind === 'answered' ? resultOfAnswer(probe, answer) : failedProbe(answer.message)
}

/** The default content type, by whether the body is JSON. */
function contentTypeOf({ body, headers }: HttpProbe): Readonly<Record<string, string>> {
  if (body === null || Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')) return {}
  return {
    'content-type': typeof parseProbeAnswer(body) === 'object' ? 'application/json' : 'text/plain; charset=utf-8',
  }
}

type HttpAnswer = Extract<OutboundResponse, { readonly kind: 'answered' }>

function resultOfAnswer({ method, changed }: HttpProbe, { status, headers, body }: HttpAnswer): ProbeResult {
  const how = `it answered ${status}`
  // A 304 only answers a conditional request.
  if (status === 304) return { kind: 'nothing', how: `${how}, not modified` }
  if (status < 200 || status > 299) return failedProbe(how)
  if (method === 'HEAD') {
    const validator = validatorOf(headers)
    if (changed !== null && validator === null)
      return failedProbe(`${how} without an ETag or a Last-Modified to compare`)
    return { kind: 'seen', value: validator ?? status, how, mark: validator }
  }
  const text = body.toString('utf8').trim()
  if (text === '') return { kind: 'nothing', how: `${how} with an empty body` }
  return { kind: 'seen', value: parseProbeAnswer(text), how, mark: null }
}

const validatorOf = (headers: ResponseHeaders): string | null => {
  const validator = headers['etag'] ?? headers['last-modified']
  return typeof validator === 'string' ? validator : null
}

/** Shorter than the grace period of a stopped run. */
const KILL_AFTER_MS = 2_000

async function probeByCommand(
  options: ProbeRunnerOptions,
  probe: CommandProbe,
  outer: AbortSignal,
): Promise<ProbeResult> {
  const { program, args, timeoutSeconds } = probe
  const rules = options.rules()
  const command = { program, cwd: probe.directory }
  const refusal = commandRefusal(command, rules)
  if (refusal !== null)
    return failedProbe(`${refusal.field === 'cwd' ? 'directory' : refusal.field} ${refusal.message}`)
  const cwd = await directoryOf(command, rules)
  if (typeof cwd !== 'string') return failedProbe(cwd.flaw)
  const late = AbortSignal.timeout(timeoutSeconds * 1_000)
  const end = await runProcess({
    ...{ program, args, cwd, env: {}, stdin: '', account: options.account, maxBytes: MAX_PROBE_ANSWER_BYTES },
    ...{ signal: AbortSignal.any([outer, late]), killAfterMs: KILL_AFTER_MS, onOutput: () => undefined },
    onErrorLine: () => undefined,
  })
  switch (end.kind) {
    case 'not_started':
      return failedProbe(`${program} could not be started: ${end.message}`)
    case 'stopped':
      return failedProbe(late.aborted ? `it did not end within ${timeoutSeconds} s` : 'it was stopped')
    case 'too_large':
      return failedProbe(`it wrote more than ${MAX_PROBE_ANSWER_BYTES} bytes`)
    case 'exited':
      return resultOfExit(end)
  }
}

/** Exit codes as with `grep`: 0 is yes, 1 is no, anything else is an error. */
function resultOfExit(end: {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}): ProbeResult {
  const { code, stdout, stderr } = end
  const how = code === null ? `it was terminated by ${end.signal ?? 'a signal'}` : `it exited with code ${code}`
  if (code === 1) return { kind: 'nothing', how }
  if (code !== 0) return failedProbe(stderr === '' ? how : `${how}: ${stderr.slice(-500)}`)
  return { kind: 'seen', value: parseProbeAnswer(stdout.trim()), how, mark: null }
}
