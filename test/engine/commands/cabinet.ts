import { agentId, attemptId, orgId, runId, scheduleId, sessionKey, type ScheduleId } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import type { ScheduleRules } from '../../../src/domain/schedule/rules.ts'
import type { SessionRules } from '../../../src/domain/session/session.ts'
import { DEFAULT_SETTINGS } from '../../../src/features/config/settings.ts'
import { emptyOrgState, type OrgState } from '../../../src/engine/org-state/org-state.ts'
import { applyEvent } from '../../../src/engine/commands/runs.ts'
import { because } from '../../../src/domain/reasons.ts'
import type { Submission } from '../../../src/engine/commands/submit.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import type { ScheduleRow } from '../../../src/features/schedules/store.ts'
import type { Timing } from '../../../src/domain/time/timing.ts'
import { NOW, rules } from '../../support/builders.ts'

/** A desk that keeps its rows: everything stays on it, and time moves by hand. */
export interface Cabinet {
  readonly desk: OrgState
  readonly pass: (ms: number) => void
  readonly states: () => Readonly<Record<string, string>>
  readonly run: (id: string) => RunRow
  /** A node takes the run. */
  readonly start: (id: string) => RunRow
}

export function openCabinet(): Cabinet {
  let runs = 0
  let attempts = 0
  const agent = {
    id: agentId('agent'),
    executorKey: 'echo',
    executorKind: 'echo',
    retryPolicy: null,
    timeoutSeconds: null,
    maxConcurrent: null,
    provider: null,
  }
  const desk = emptyOrgState(
    orgId('default'),
    {
      random: () => 0.5,
      newRunId: () => runId(`r${(runs += 1)}`),
      newAttemptId: () => attemptId(`a${(attempts += 1)}`),
    },
    { ...DEFAULT_SETTINGS, tasks: { ...DEFAULT_SETTINGS.tasks, maxPerAgent: 3 } },
  )
  desk.now = NOW
  desk.agents.set(agent.id, agent)
  // What ended as it was made is not on the desk, only among the changes.
  const all = (): readonly RunRow[] => [...new Set([...desk.changes.created, ...desk.runs.values()])]
  const run = (id: string): RunRow => {
    const found = desk.runs.get(runId(id)) ?? all().find((one) => one.id === id)
    if (found === undefined) throw new Error(`no run ${id}`)
    return found
  }
  return {
    desk,
    run,
    pass: (ms) => {
      desk.now = later(desk.now, ms)
    },
    states: () => Object.fromEntries(all().map((one) => [one.id, one.state])),
    start: (id) => {
      const started = run(id)
      applyEvent(desk, started, { event: 'claim', why: because('picked', 'test') })
      started.attemptId = desk.randomSource.newAttemptId(desk.now)
      started.nodeId = 'node'
      started.startedAt = desk.now
      return started
    },
  }
}

export function aSessionOn(
  { desk }: Cabinet,
  over: Partial<SessionRules> = {},
  key = 's',
): ReturnType<typeof sessionKey> {
  const name = sessionKey(key)
  desk.sessions.set(name, {
    orgId: desk.orgId,
    key: name,
    own: { debounceMs: 0, ...over },
    cutoff: null,
    generation: 0,
    context: null,
    behind: 0,
    behindFrom: 0,
    createdAt: desk.now,
  })
  return name
}

export const aMessage = (text: string, over: Partial<Submission> = {}): Submission => ({
  trigger: 'message',
  agentId: agentId('agent'),
  sessionKey: sessionKey('s'),
  content: { text, attachments: [], messageIds: [], fields: {} },
  sender: null,
  sentAt: null,
  lane: null,
  priority: 0,
  notBefore: null,
  deadline: null,
  retryPolicy: null,
  parentRunId: null,
  rules: {},
  ...over,
})

export const aTask = (over: Partial<Submission> = {}): Submission =>
  aMessage('task', { trigger: 'task', sessionKey: null, ...over })

export function aScheduleOn({ desk }: Cabinet, timing: Timing, over: Partial<ScheduleRules> = {}): ScheduleId {
  const id = scheduleId('sch')
  const row: ScheduleRow = {
    id,
    orgId: desk.orgId,
    agentId: agentId('agent'),
    createdBy: null,
    ...{ owner: null, createdByRun: null, lineage: null, approval: null },
    name: 'a schedule',
    description: '',
    input: {},
    timing,
    rules: rules(over),
    retryPolicy: null,
    timeoutSeconds: null,
    lane: null,
    sessionKey: null,
    payload: { prompt: 'work' },
    deleteAfterRun: timing.kind === 'at',
    state: 'active',
    watermark: desk.now,
    pace: null,
    nextRunAt: null,
    failureStreak: 0,
    failureCount: 0,
    skippedFor: null,
    fires: 0,
    lastRunAt: null,
    lastStatus: null,
    lastError: null,
    alerts: null,
    previousRunId: null,
    lastReleaseAt: null,
    lastEnding: null,
    version: 1,
    createdAt: desk.now,
    updatedAt: desk.now,
  }
  desk.schedules.set(id, row)
  return id
}
