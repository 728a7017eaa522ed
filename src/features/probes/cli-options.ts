import type { Command } from 'commander'
import type { ProbeCountsView, ProbeInput, ProbeTryView } from './schema.ts'
import { OPERATORS } from '../../domain/probe/condition.ts'
import { parseProbe } from '../../domain/probe/probe.ts'
import { sayProbe } from '../../core/probe/say-probe.ts'
import { manyLines, oneLine } from '../../cli/output/text.ts'
import { momentText } from '../../cli/output/times.ts'
import { json, type FieldValues } from '../../cli/remote/fields.ts'
import { printJson, type Facts } from '../../cli/remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../../cli/remote/talk.ts'
import { UsageError } from '../../cli/remote/usage.ts'
import { EXIT, type ExitCode, type Terminal } from '../../cli/terminal.ts'

/** What options say about a probe. */
export interface ProbeOptions {
  readonly probe?: string
  readonly probeUrl?: string
  readonly probeWhen?: string
  readonly probeChanged?: string | true
  readonly probeOnError?: string
}

/** The options that say what is asked before the agent is woken. */
export const withProbe = (command: Command): Command =>
  command
    .option('--probe <json>', 'probe that runs before the agent is woken, as JSON: {"kind": "http", "url": …}')
    .option('--probe-url <url>', 'URL that the probe requests')
    .option('--probe-when <condition>', 'condition on the response: "/open > 0", "/items not_empty", or JSON')
    .option('--probe-changed [pointer]', 'wake the agent only when the response, or its value at the pointer, changed')
    .option('--probe-on-error <word>', 'when the probe fails: run (default) or fail')

/** The probe that options say; undefined: they say nothing. */
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
  const whole = { ...given, ...parts }
  if (!('kind' in whole)) throw new UsageError('--probe-when and its like need --probe-url or --probe')
  return whole as ProbeInput
}

/** What is sent, with the probe in it. */
export function withProbeIn(body: FieldValues, options: ProbeOptions, terminal: Terminal): FieldValues {
  const probe = probeIn(options, terminal)
  return probe === undefined ? body : { ...body, probe }
}

/** `/open > 0` as the condition that it means; without a path it is about the whole answer. What looks like JSON is JSON. */
function readWhen(text: string, terminal: Terminal): unknown {
  if (text.trim().startsWith('{')) return json(text, { option: '--probe-when', now: terminal.now() })
  const [, path = '', op = '', value] = /^(\/\S*)?\s*(\S+)(?:\s+(.+))?$/.exec(text.trim()) ?? []
  if (!OPERATORS.some((word) => word === op))
    throw new UsageError(
      `--probe-when "${text}" is not understood. Allowed: JSON, or PATH OPERATOR VALUE with ${OPERATORS.join(' ')}`,
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

/** A probe and what it has saved, as facts of a schedule or a heartbeat. */
export function probeFacts(
  { terminal }: Talk,
  of: { readonly probe: ProbeInput | null; readonly probe_counts?: ProbeCountsView | undefined },
): Facts {
  if (of.probe === null) return []
  const read = parseProbe('probe', of.probe)
  const counts = of.probe_counts
  return [
    ['asks first', read.ok ? sayProbe(read.value) : oneLine(JSON.stringify(of.probe))],
    ['calls saved', counts === undefined ? 'none yet' : savedText(counts)],
    [
      'last answer',
      counts === undefined
        ? null
        : `${counts.last_answer}, ${momentText(counts.last_at, terminal.now()) ?? ''}: ${oneLine(counts.last_sentence)}`,
    ],
  ]
}

function savedText({ asked, saved, errors, saved_tokens: tokens, saved_cost: cost }: ProbeCountsView): string {
  const worth = [tokens === null ? null : `${tokens} tokens`, cost === null ? null : `${cost} money`]
  const about = worth.filter((one) => one !== null).join(' and ')
  const wrong = errors === 0 ? '' : `, ${errors} could not be asked`
  return `${saved} of ${asked} asked${wrong}${about === '' ? '' : `; an estimated ${about}`}`
}

/** `escapement schedules probe`: asks once and says what would be decided. */
export function addProbe(group: Command, desk: Desk): void {
  const about = 'run a probe once, of a schedule or from options; the exit code is 1 if the agent would not be woken'
  remote<ProbeOptions>(desk, withProbe(commandOf(group, 'probe [id]', about)), {
    names: { '/probe': '--probe', '/schedule_id': 'ID' },
    work: async (talk, [id], options): Promise<ExitCode> => {
      const probe = probeIn(options, talk.terminal)
      const named = id === undefined || id === '' ? {} : { schedule_id: id }
      if (probe === undefined && id === undefined)
        throw new UsageError('Name a schedule, or say what to ask: --probe-url')
      const answer = await talk.client.schedules.probe({ ...named, ...(probe === undefined ? {} : { probe }) })
      await (talk.json ? printJson(talk, answer) : showTry(talk, answer))
      return answer.wakes ? EXIT.ok : EXIT.refused
    },
  })
}

async function showTry(
  talk: Talk,
  { answer, wakes, probe, sentence, seen, duration_ms: took }: ProbeTryView,
): Promise<void> {
  const what = wakes ? 'The agent would be woken.' : 'Nobody would be woken.'
  const lines = [`${answer}: ${sentence} (${took} ms). ${what}`, probe, ...(seen === '' ? [] : ['', manyLines(seen)])]
  await talk.print(`${lines.join('\n')}\n`)
}
