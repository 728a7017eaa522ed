import type { Command } from 'commander'
import type { ProbeCountsView, ProbeInput, ProbeTryView } from './schema.ts'
import { OPERATORS } from '../../domain/probe/condition.ts'
import { parseProbe } from '../../domain/probe/probe.ts'
import { describeProbe } from '../../domain/probe/verdict.ts'
import { manyLines, oneLine } from '../../cli/output/text.ts'
import { cliTimeText } from '../../cli/output/times.ts'
import { json, type FieldValues } from '../../cli/remote/fields.ts'
import { printJson, type Facts } from '../../cli/remote/show.ts'
import { commandOf, type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { EXIT, type ExitCode, type Terminal } from '../../cli/terminal.ts'

/** The options of a probe. */
export interface ProbeOptions {
  readonly probe?: string
  readonly probeUrl?: string
  readonly probeWhen?: string
  readonly probeChanged?: string | true
  readonly probeOnError?: string
}

/** Adds the options of a probe. */
export const withProbe = (command: Command): Command =>
  command
    .option('--probe <json>', 'probe to run before the agent, as JSON: {"kind": "http", "url": …}')
    .option('--probe-url <url>', 'URL to request')
    .option('--probe-when <condition>', 'condition on the response: "/open > 0", "/items not_empty", or JSON')
    .option('--probe-changed [pointer]', 'run the agent only if the response, or its value at the pointer, changed')
    .option('--probe-on-error <word>', 'action if the probe fails: run (default) or fail')

/** The probe given by options; undefined: none. */
function probeIn(options: ProbeOptions, terminal: Terminal): ProbeInput | undefined {
  const { probe, probeUrl: url, probeWhen: when, probeChanged: changed, probeOnError: onError } = options
  const parts = {
    ...(url === undefined ? {} : { kind: 'http', url }),
    ...(when === undefined ? {} : { when: readWhen(when, terminal) }),
    ...(changed === undefined ? {} : { changed }),
    ...(onError === undefined ? {} : { on_error: onError }),
  }
  if (probe === undefined && Object.keys(parts).length === 0) return undefined
  const given = probe === undefined ? {} : json(probe, { option: '--probe', now: terminal.now() })
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new UsageError('--probe must be one JSON object')
  const merged = { ...given, ...parts }
  if (!('kind' in merged))
    throw new UsageError('--probe-when, --probe-changed and --probe-on-error require --probe-url or --probe')
  return merged as ProbeInput
}

/** Adds the probe to the request body. */
export function withProbeIn(body: FieldValues, options: ProbeOptions, terminal: Terminal): FieldValues {
  const probe = probeIn(options, terminal)
  return probe === undefined ? body : { ...body, probe }
}

/** Reads `/open > 0` as a condition; without a path it applies to the whole response. Text that starts with `{` is JSON. */
function readWhen(text: string, terminal: Terminal): unknown {
  if (text.trim().startsWith('{')) return json(text, { option: '--probe-when', now: terminal.now() })
  const [, path = '', op = '', value] = /^(\/\S*)?\s*(\S+)(?:\s+(.+))?$/.exec(text.trim()) ?? []
  if (!OPERATORS.some((word) => word === op))
    throw new UsageError(
      `Invalid --probe-when "${text}". Allowed: JSON, or PATH OPERATOR VALUE with ${OPERATORS.join(' ')}`,
    )
  return { path, op, ...(value === undefined ? {} : { value: jsonOrText(value) }) }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** A probe and the calls it has saved, as facts of a schedule or heartbeat. */
export function probeFacts(
  { terminal }: CliCall,
  of: { readonly probe: ProbeInput | null; readonly probe_counts?: ProbeCountsView | undefined },
): Facts {
  if (of.probe === null) return []
  const read = parseProbe('probe', of.probe)
  const counts = of.probe_counts
  return [
    ['probe', read.ok ? describeProbe(read.value) : oneLine(JSON.stringify(of.probe))],
    ['calls saved', counts === undefined ? 'none yet' : savedText(counts)],
    [
      'last result',
      counts === undefined
        ? null
        : `${counts.last_answer}, ${cliTimeText(counts.last_at, terminal.now()) ?? ''}: ${oneLine(counts.last_sentence)}`,
    ],
  ]
}

function savedText({ asked, saved, errors, saved_tokens: tokens, saved_cost: cost }: ProbeCountsView): string {
  const savings = [tokens === null ? null : `${tokens} tokens`, cost === null ? null : `cost ${cost}`]
  const about = savings.filter((one) => one !== null).join(' and ')
  const errorText = errors === 0 ? '' : `, ${errors} errors`
  return `${saved} of ${asked}${errorText}${about === '' ? '' : `; estimated ${about}`}`
}

/** `escapement schedules probe`: runs a probe once and prints its decision. */
export function addProbe(group: Command, cli: CliContext): void {
  const about = 'run a probe once, from a schedule or from options; exit with code 1 if the agent would not run'
  remote<ProbeOptions>(cli, withProbe(commandOf(group, 'probe [id]', about)), {
    names: { '/probe': '--probe', '/schedule_id': 'ID' },
    work: async (call, [id], options): Promise<ExitCode> => {
      const probe = probeIn(options, call.terminal)
      const named = id === undefined || id === '' ? {} : { schedule_id: id }
      if (probe === undefined && id === undefined)
        throw new UsageError('Missing probe: pass a schedule id, --probe-url or --probe')
      const answer = await call.client.schedules.probe({ ...named, ...(probe === undefined ? {} : { probe }) })
      await (call.json ? printJson(call, answer) : showProbeResult(call, answer))
      return answer.wakes ? EXIT.ok : EXIT.refused
    },
  })
}

async function showProbeResult(
  call: CliCall,
  { answer, wakes, probe, sentence, seen, duration_ms: took }: ProbeTryView,
): Promise<void> {
  const what = wakes ? 'The agent would run.' : 'The agent would not run.'
  const lines = [`${answer}: ${sentence} (${took} ms). ${what}`, probe, ...(seen === '' ? [] : ['', manyLines(seen)])]
  await call.print(`${lines.join('\n')}\n`)
}
