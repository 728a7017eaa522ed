import type { Candidate } from '../../../src/core/picking/gates.ts'
import type { OrgFacts, PickingFacts } from '../../core/picking/oracle/picking-facts.ts'
import { REAL_CORE } from '../core.ts'
import { mutant, type Mutant } from './mutant.ts'

const { pickRuns } = REAL_CORE

const withOrgs = (facts: PickingFacts, change: (org: OrgFacts) => Partial<OrgFacts>): PickingFacts => ({
  ...facts,
  orgs: new Map([...facts.orgs].map(([id, org]) => [id, { ...org, ...change(org) }])),
})

/** What was picked is looked up again, so that a changed candidate never reaches the world. */
const pickWith = (facts: PickingFacts, change: (run: Candidate) => Partial<Candidate>): readonly Candidate[] =>
  pickRuns({ ...facts, candidates: facts.candidates.map((run) => ({ ...run, ...change(run) })) })

/** Mistakes in picking. */
export const PICKING_MUTANTS: readonly Mutant[] = [
  mutant('sessions go newest first', 'session_order', {
    pickRuns: (facts) => pickWith(facts, (run) => ({ seq: run.seq === null ? null : -run.seq })),
  }),
  mutant('sessions have no order at all', 'session_order', {
    pickRuns: (facts) => pickWith(facts, (run) => ({ sessionKey: run.retrying ? run.sessionKey : null })),
  }),
  mutant('a session may have one run more', 'limits', {
    pickRuns: (facts) =>
      pickRuns(
        withOrgs(facts, (org) => ({
          sessions: new Map(
            [...org.sessions].map(([key, session]) => [key, { ...session, maxConcurrent: session.maxConcurrent + 1 }]),
          ),
        })),
      ),
  }),
  mutant('a full context does not slow a session down', 'limits', {
    pickRuns: (facts) =>
      pickRuns(
        withOrgs(facts, (org) => ({
          sessions: new Map([...org.sessions].map(([key, session]) => [key, { ...session, context: null }])),
        })),
      ),
  }),
  mutant('a lane has one slot more than it has', 'limits', {
    pickRuns: (facts) =>
      pickRuns({
        ...facts,
        lanes: new Map([...facts.lanes].map(([name, lane]) => [name, { ...lane, size: lane.size + 1 }])),
      }),
  }),
  mutant('the limit of an agent is forgotten', 'limits', {
    pickRuns: (facts) =>
      pickRuns(
        withOrgs(facts, (org) => ({
          agents: new Map(
            [...org.agents].map(([id, agent]) => [id, { ...agent, load: { ...agent.load, limit: null } }]),
          ),
        })),
      ),
  }),
  mutant('the limit of an org is forgotten', 'limits', {
    pickRuns: (facts) => pickRuns(withOrgs(facts, (org) => ({ load: { ...org.load, limit: null } }))),
  }),
  mutant('tasks in flight are not counted', 'limits', {
    pickRuns: (facts) =>
      pickRuns(
        withOrgs(facts, (org) => ({
          tasks: { inFlight: 0, limit: org.tasks.limit },
          agents: new Map(
            [...org.agents].map(([id, agent]) => [id, { ...agent, tasks: { ...agent.tasks, inFlight: 0 } }]),
          ),
        })),
      ),
  }),
  mutant('a restart is a stampede', 'limits', {
    pickRuns: (facts) => pickRuns({ ...facts, catchup: { inFlight: 0, limit: null } }),
  }),
  mutant('a parked run starts without a slot', 'limits', {
    pickRuns: (facts) => pickWith(facts, () => ({ parkedBehind: null })),
  }),
  mutant('an interrupting message does not wait for the stop', 'stopped_stays_stopped', {
    pickRuns: (facts) => pickWith(facts, () => ({ interrupts: false })),
  }),
  mutant('only one run is picked, however many slots are free', 'nothing_stuck', {
    pickRuns: (facts) => pickRuns(facts).slice(0, 1),
  }),
]
