import type { HandledAttempt, Records, StoredRun, Submission } from '../records.ts'
import { audit } from './audit.ts'

// An audit that cannot fail proves nothing: for each way to be wrong there is a record here that is wrong in that way,
// beside the one that is as it should be.

export const SESSION = 'agent:helper:chaos:fifo:1'
export const GROUP = 'agent:helper:chaos:group:1'
export const T = Date.UTC(2026, 10, 15, 12)

export const submission = (id: string, over: Partial<Submission> = {}): Submission => ({
  id,
  to: SESSION,
  sentAt: T,
  answeredAt: T + 5,
  outcome: 'accepted',
  run: `run_${id}`,
  code: null,
  ...over,
})

export const handled = (id: string, over: Partial<HandledAttempt> = {}): HandledAttempt => ({
  id: `att_${id}_${over.number ?? 1}`,
  number: 1,
  run: `run_${id}`,
  org: 'default',
  agent: 'helper',
  session: SESSION,
  schedule: null,
  trigger: 'message',
  process: 'a',
  node: 'nod_a',
  startedAt: T + 10,
  endedAt: T + 50,
  how: 'ok',
  ...over,
})

export const stored = (id: string, over: Partial<StoredRun> = {}): StoredRun => ({
  id: `run_${id}`,
  org: 'default',
  trigger: 'message',
  agent: 'helper',
  session: SESSION,
  schedule: null,
  nominal: null,
  lane: 'main',
  createdAt: T + 1,
  finishedAt: T + 60,
  ending: 'success',
  reason: 'completed',
  superseded: false,
  submissions: [id],
  attempts: [{ id: `att_${id}_1`, number: 1, node: 'nod_a', startedAt: T + 8, finishedAt: T + 60, errorCode: null }],
  endings: 1,
  ...over,
})

export const records = (over: Partial<Records> = {}): Records => ({
  submissions: [],
  handled: [],
  processes: [
    { name: 'a', readyAt: T - 1_000, diedAt: null },
    { name: 'b', readyAt: T - 1_000, diedAt: null },
  ],
  runs: [],
  ranges: [],
  leases: ['nod_a', 'nod_b'].flatMap((node) =>
    Array.from({ length: 100 }, (_, tick) => ({ node, at: T - 1_000 + tick * 200, until: T + 3_000 + tick * 200 })),
  ),
  leaseMs: 4_000,
  faults: [],
  schedules: [],
  limits: {
    sessions: new Map([
      [SESSION, 1],
      [GROUP, 2],
    ]),
    agents: new Map([['default writer', 1]]),
    orgs: new Map([['default', 3]]),
    tasks: 2,
    tasksPerAgent: 1,
    lanes: new Map([['main', 2]]),
    catchups: 1,
  },
  orderedSessions: new Set([SESSION]),
  load: { from: T, until: T + 60_000 },
  ...over,
})

export const found = (over: Partial<Records>): readonly string[] =>
  audit(records(over)).findings.map(({ wrong, what }) => `${wrong}: ${what}`)

export const one = (id = '1'): Partial<Records> => ({
  submissions: [submission(id)],
  handled: [handled(id)],
  runs: [stored(id)],
})
