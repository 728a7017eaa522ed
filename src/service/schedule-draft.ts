import { durationOf } from '../domain/run/run.ts'
import { invalid } from '../api/refusals.ts'
import type { DraftInput, ProposedTiming, ScheduleDraft, ScheduleProposal } from '../contract/schedule-draft.ts'
import { requirementsOf, type Requirement } from '../domain/draft/requirements.ts'
import type { ExecutorKind } from '../executors/kinds.ts'
import { DEFAULT_TIMEOUT_SECONDS } from '../domain/run/timeouts.ts'
import type { Zone } from '../core/time/zone.ts'
import { understandWords } from '../core/words/understand.ts'
import { loadAgents, type AgentRow } from '../features/agents/store.ts'
import type { RunRecord } from '../store/run-record.ts'
import type { Ports } from './ports.ts'
import { viewUsage } from '../features/runs/view.ts'
import { readRun } from './runs-read.ts'
import { previewSchedule } from './schedule-preview.ts'
import { readThread, type Drafter, type RunInThread } from './schedule-thread.ts'
import { zoneFor } from './schedule-words.ts'
import { textOf } from './session-messages.ts'

type Reading = Pick<Ports, 'database' | 'clock'>

/** Names are read in lists; what is longer is cut where a list would cut it. */
const MOST_NAME = 60

/**
 * What a schedule that does the same as a run begins with. Nothing is kept: whoever asked adds when it is to happen, where
 * nobody has said it, and makes the schedule of it.
 */
export async function draftSchedule(
  ports: Reading,
  drafter: Drafter,
  { id, choices }: { readonly id: string; readonly choices: DraftInput },
): Promise<ScheduleDraft> {
  const known = await readKnown(ports, drafter, { id, timezone: choices.timezone })
  const timing = choices.when === undefined ? timingOf(known) : timingIn(ports, known, choices.when)
  return composed(known, { choices, timing })
}

/** A schedule made of a run, with everything that can be chosen about it and what it is based on. */
export async function proposeSchedule(ports: Reading, drafter: Drafter, id: string): Promise<ScheduleProposal> {
  const known = await readKnown(ports, drafter, { id, timezone: undefined })
  const { run, around, requirements } = known
  const { thread, conversation, target } = around
  return {
    run_id: run.id,
    prompt_run_id: thread?.asked.runId ?? run.id,
    draft: composed(known, { choices: {}, timing: timingOf(known) }),
    timing: await proposedTiming(ports, drafter, known),
    requirements: requirements.map(({ runId, ...one }) => ({ ...one, run_id: runId })),
    conversation,
    target: target === null ? null : { id: target.id, name: target.name },
    observed: { duration_ms: durationOf(run), usage: viewUsage(run.usage) },
  }
}

/** Everything that a draft is made of. */
interface Known {
  readonly run: RunRecord
  readonly agent: AgentRow | undefined
  readonly zone: Zone
  readonly around: RunInThread
  readonly requirements: readonly Requirement[]
}

async function readKnown(
  ports: Reading,
  drafter: Drafter,
  { id, timezone }: { readonly id: string; readonly timezone: string | undefined },
): Promise<Known> {
  const { orgId } = drafter
  const run = await readRun(ports, orgId, id)
  const [agent] = await loadAgents(ports.database, { orgId, ids: [run.agentId] })
  const zone = await zoneFor(ports, orgId, timezone)
  const around = await readThread(ports, drafter, { run, zone })
  const requirements = around.thread === null ? [] : requirementsOf(around.thread)
  return { run, agent, zone, around, requirements }
}

type TimingFields = Partial<ScheduleDraft>

/** When, as the conversation says it; nothing where it does not. */
const timingOf = ({ around }: Known): TimingFields => around.thread?.timing?.said.fields ?? {}

/** When, as whoever asks says it. */
function timingIn(ports: Reading, { zone }: Known, when: string): TimingFields {
  const read = understandWords('when', when, { now: ports.clock.now(), zone })
  if (!read.ok) throw invalid(read.flaws)
  if (read.value.rest === null) return read.value.fields
  const message = 'says what there is to do as well; only when is asked for here'
  throw invalid([{ field: 'when', value: when, message, position: when.search(/[:：]/u) }])
}

async function proposedTiming(
  ports: Reading,
  { orgId }: Drafter,
  { around: { thread }, zone }: Known,
): Promise<ProposedTiming | null> {
  const timing = thread?.timing ?? null
  if (timing === null) return null
  const { said, message } = timing
  const fields = { timezone: zone.name, ...said.fields }
  const { sentence, next, dst_notes } = await previewSchedule(ports, { orgId, principal: null }, fields)
  return { words: said.words, run_id: message.runId, notes: said.notes, sentence, next, dst_notes }
}

interface Decided {
  readonly choices: DraftInput
  readonly timing: TimingFields
}

function composed(known: Known, { choices, timing }: Decided): ScheduleDraft {
  const { run, agent, around, zone } = known
  const session = sessionOf(known, choices)
  const timeout = timeoutFor(run, agent)
  return {
    name: nameOf(run, around.thread?.prompt ?? textOf(run.payload)),
    ...(agent === undefined ? {} : { agent_id: agent.id }),
    payload: payloadOf(known, choices),
    timezone: zone.name,
    ...timing,
    ...(session === null ? {} : { session }),
    ...(timeout === null ? {} : { timeout_seconds: timeout }),
    ...(around.target === null ? {} : { delivery: { target_id: around.target.id } }),
  }
}

/** The first line of what the run was told. */
function nameOf(run: RunRecord, text: string | null): string {
  const [line = ''] = (text ?? '').trim().split('\n', 1)
  const letters = Array.from(line.trim())
  if (letters.length === 0) return `Like ${run.id}`
  return letters.length <= MOST_NAME
    ? letters.join('')
    : `${letters
        .slice(0, MOST_NAME - 1)
        .join('')
        .trimEnd()}…`
}

/** A message becomes a prompt, what came with it its context, and what was good about the answer its output. */
function payloadOf(known: Known, choices: DraftInput): unknown {
  const { run, around } = known
  const { thread, attachments } = around
  const output = outputOf(known, choices)
  if (thread === null) return choices.output === undefined ? run.payload : withOutput(run.payload, output)
  return {
    prompt: thread.prompt,
    ...(attachments.length === 0 ? {} : { context: { attachments } }),
    ...(output === '' ? {} : { output }),
  }
}

function withOutput(payload: unknown, output: string): unknown {
  if (typeof payload === 'string') return output === '' ? payload : { prompt: payload, output }
  if (typeof payload === 'object' && payload !== null && 'prompt' in payload) {
    const { output: _before, ...rest } = payload as Readonly<Record<string, unknown>>
    return output === '' ? rest : { ...rest, output }
  }
  const message = 'belongs to a prompt, and this run has none'
  throw invalid([{ field: 'output', value: output, message }])
}

function outputOf({ requirements }: Known, { output, requirements: chosen }: DraftInput): string {
  if (output !== undefined) return output.trim()
  const ids = requirements.map(({ id }) => id)
  const strangers = (chosen ?? []).flatMap((id, no) =>
    ids.includes(id)
      ? []
      : [
          {
            ...{ field: `requirements.${no}`, value: id, message: 'is not among those proposed' },
            allowed: ids.length === 0 ? 'none: there are none' : ids.join(', '),
          },
        ],
  )
  if (strangers.length > 0) throw invalid(strangers)
  return requirements
    .filter(({ id, taken }) => (chosen === undefined ? taken : chosen.includes(id)))
    .map(({ text }) => text)
    .join(' ')
}

/** The conversation, where runs are to go on in it; null: each begins anew. */
function sessionOf({ around: { conversation } }: Known, { session }: DraftInput): string | null {
  if (session !== 'conversation') return null
  if (conversation !== null) return conversation.key
  const message = 'is not possible: the run is of no conversation that may be read'
  throw invalid([{ field: 'session', value: session, message, allowed: 'isolated' }])
}

/** How much longer than seen a run may take, and how often less than the limit it has to take for that to be enough. */
const TIMES_LONGER = 3
const TIMES_LESS = 2
const MINUTE_SECONDS = 60

/** A limit of its own, in whole minutes, for what has come near the usual one; null: the usual one is enough. */
function timeoutFor(run: RunRecord, agent: AgentRow | undefined): number | null {
  const duration = durationOf(run)
  if (duration === null || agent === undefined || run.state !== 'success') return null
  const usual = agent.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS[agent.executor.kind as ExecutorKind]
  const seconds = duration / 1_000
  if (seconds * TIMES_LESS <= usual) return null
  return Math.ceil((seconds * TIMES_LONGER) / MINUTE_SECONDS) * MINUTE_SECONDS
}
