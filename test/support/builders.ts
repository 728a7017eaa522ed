import type { AdmissionFacts } from '../../src/domain/admission/admission.ts'
import type { GateCandidate } from '../../src/domain/queue/gates.ts'
import { agentId, laneName, orgId, runId, sessionKey, type SessionKey } from '../../src/domain/ids.ts'
import { instant } from '../../src/domain/instant.ts'
import type { OrgFacts, PickingFacts } from '../domain/queue/picking-facts.ts'
import { DEFAULT_SCHEDULE_RULES, type ScheduleRules } from '../../src/domain/schedule/rules.ts'
import {
  type Arrival,
  DEFAULT_SESSION_RULES,
  type SessionFacts,
  type SessionRun,
} from '../../src/domain/session/session.ts'

/** A quiet moment that every test may call now. */
export const NOW = instant(Date.parse('2026-01-15T12:00:00Z'))

export const aSessionRun = (id: string, over: Partial<SessionRun> = {}): SessionRun => ({
  id: runId(id),
  state: 'queued',
  seq: null,
  createdAt: NOW,
  attempt: 1,
  firstAttempt: 1,
  ...over,
})

export const aSession = (over: Partial<SessionFacts> = {}): SessionFacts => ({
  rules: DEFAULT_SESSION_RULES,
  runs: [],
  cutoff: null,
  open: null,
  ...over,
})

export const anArrival = (over: Partial<Arrival> = {}): Arrival => ({
  trigger: 'message',
  sentAt: NOW,
  sender: null,
  notBefore: null,
  ...over,
})

export const admissionFacts = (over: Partial<AdmissionFacts> = {}): AdmissionFacts => ({
  now: NOW,
  stopGraceMs: 5_000,
  budget: null,
  limits: { tasks: null, runsPerDay: null },
  session: null,
  ...over,
})

export const aCandidate = (id: string, over: Partial<GateCandidate> = {}): GateCandidate => ({
  id: runId(id),
  orgId: orgId('org'),
  agentId: agentId('agent'),
  sessionKey: null,
  trigger: 'message',
  lane: laneName('main'),
  priority: 0,
  createdAt: NOW,
  seq: null,
  notBefore: null,
  retrying: false,
  parkedBehind: null,
  interrupts: false,
  executable: true,
  reserves: [],
  ...over,
})

export const anOrg = (over: Partial<OrgFacts> = {}): OrgFacts => ({
  load: { inFlight: 0, limit: null },
  tasks: { inFlight: 0, limit: null },
  shares: new Map(),
  agents: new Map(),
  sessions: new Map(),
  budgets: new Map(),
  ...over,
})

export const pickingFacts = (over: Partial<PickingFacts> = {}): PickingFacts => ({
  now: NOW,
  lanes: new Map([[laneName('main'), { size: 30, held: 0 }]]),
  catchup: { inFlight: 0, limit: 10 },
  orgs: new Map([[orgId('org'), anOrg()]]),
  candidates: [],
  ...over,
})

export const inSession = (
  key: string,
  over: Partial<GateCandidate> = {},
): Partial<GateCandidate> & { sessionKey: SessionKey } => ({
  ...over,
  sessionKey: sessionKey(key),
})

export const rules = (over: Partial<ScheduleRules> = {}): ScheduleRules => ({ ...DEFAULT_SCHEDULE_RULES, ...over })
