import { expect } from 'vitest'
import type { RunView } from '../../../src/features/runs/schema.ts'
import type { ScheduleInput, ScheduleView } from '../../../src/features/schedules/schema.ts'
import type { Dispatch } from '../../../src/executors/dispatch.ts'
import { missSeconds } from '../../scenarios/downtime.ts'
import { labelOf } from '../../scenarios/stage.ts'
import { eventually, inShort, runsOf, timeOf } from '../../scenarios/support.ts'
import type { AgentStub } from '../agent-stub.ts'
import { SAMPLE_POLICIES } from '../../support/seed-003-sample.ts'
import { createSchedule, NEVER, once, onceAlone, runNow } from '../experiment.ts'
import type { World } from '../world.ts'

/** A busy machine may miss a second and record it as such; these checks are not about that. */
export const decided = (runs: readonly RunView[]): readonly RunView[] =>
  runs.filter(({ reason }) => reason !== 'misfire')

interface Plan {
  readonly fields: Readonly<Record<string, unknown>>
  readonly prepare: (agent: AgentStub) => void
  readonly isEnough: (runs: readonly RunView[]) => boolean
  /** What the agent must have seen of these runs besides; a request arrives later than its run is shown as running. */
  readonly isSeen?: (agent: AgentStub, runs: readonly RunView[]) => boolean
}

interface Watched {
  readonly created: ScheduleView
  readonly runs: readonly RunView[]
  readonly dispatches: readonly Dispatch[]
  /** The most requests that its agent had at once, and those that lost their connection. */
  readonly most: number
  readonly dropped: number
}

/** A schedule of every second with these policies, its runs as soon as they show enough, and what its agent saw. */
export const watched = ({
  fields,
  prepare,
  isEnough,
  isSeen = () => true,
}: Plan): ((world: World) => Promise<Watched>) =>
  once(async (world) => {
    const agent = await world.agent()
    prepare(agent)
    const created = await createSchedule(world, { agent_id: agent.id, every_seconds: 1, ...fields })
    const runs = decided(await world.runsOf(created.id, (found) => isEnough(decided(found))))
    await world.until(() => isSeen(agent, runs))
    const { dispatches } = agent
    const [most, dropped] = [agent.most(), agent.dropped()]
    await world.del(`/api/v1/schedules/${created.id}`)
    agent.release()
    return { created, runs, dispatches, most, dropped }
  })

const hold = (agent: AgentStub): void => agent.hold()
const fail = (agent: AgentStub): void => agent.reply({ status: 'failed', error_message: 'as asked' })

export const first = (count: number, runs: readonly RunView[]): readonly string[] => runs.slice(0, count).map(inShort)

const running = (count: number) => (runs: readonly RunView[]) =>
  runs.filter(({ status }) => status === 'running').length >= count
const heard = (count: number) => (agent: AgentStub) => agent.dispatches.length >= count
const atLeast = (count: number) => (runs: readonly RunView[]) => runs.length >= count
const over = (count: number) => (runs: readonly RunView[]) =>
  runs.length >= count && runs.slice(0, count).every(({ finished_at }) => finished_at !== null)

export const overlapSkip = watched({
  fields: { overlap_action: 'SKIP' },
  prepare: hold,
  isEnough: atLeast(3),
  isSeen: heard(1),
})

export const allowed = watched({
  fields: { overlap_action: 'ALLOW', concurrency_policy: 'SKIP', max_concurrency: 2 },
  prepare: hold,
  isEnough: (runs) => runs.length >= 3 && running(2)(runs),
})

export const cancelPrev = watched({
  fields: { overlap_action: 'CANCEL_PREV', concurrency_policy: 'SKIP', max_concurrency: 1 },
  prepare: hold,
  isEnough: (runs) => over(2)(runs) && running(1)(runs),
  isSeen: (agent) => heard(2)(agent) && agent.dropped() > 0,
})

const parallel = (concurrency_policy: string) =>
  watched({
    fields: { overlap_action: 'PARALLEL', concurrency_policy, max_concurrency: 1 },
    ...{ prepare: hold, isEnough: running(3), isSeen: (agent) => agent.most() >= 3 },
  })
export const parallelSkip = parallel('SKIP')
export const parallelQueue = parallel('QUEUE')

export const queued = watched({
  fields: { concurrency_policy: 'QUEUE', queue_depth: 2 },
  prepare: hold,
  isEnough: (runs) => runs.length >= 4 && running(1)(runs),
})

/** Every two seconds, so that a run has ended before the next moment on a busy machine, too. */
const SELDOM = { every_seconds: 2, retry_policy: { max_retries: 0 } } as const

export const retried = watched({
  ...{ fields: { failure_action: 'RETRY', every_seconds: 2 }, prepare: fail, isEnough: over(3) },
})
export const skippedOnce = watched({
  ...{ fields: { failure_action: 'SKIP', ...SELDOM }, prepare: fail, isEnough: over(3) },
})
export const newRuns = watched({
  ...{ fields: { failure_action: 'RUN_NEW', ...SELDOM }, prepare: fail, isEnough: over(3) },
})

interface Crowd {
  /** What becomes of two runs that are asked for, one after the other, before the schedule fires by itself. */
  readonly ends: readonly ('open' | 'success' | 'failed')[]
  /** What the schedule is given then. */
  readonly policies: Readonly<Record<string, unknown>>
  readonly count: number
}

/** A schedule with runs that take its places when it begins to fire; the first occurrences after that. */
export const crowded = ({ ends, policies, count }: Crowd): ((world: World) => Promise<readonly RunView[]>) =>
  once(async (world) => {
    const agent = await world.agent({ retry_policy: { max_retries: 0 } })
    const fields = { ...NEVER, max_concurrency: ends.length, overlap_action: 'ALLOW' }
    const { id } = await createSchedule(world, { ...fields, agent_id: agent.id })
    agent.respond((_, response, n) => {
      const end = ends[n - 1] ?? 'success'
      if (end === 'open') return
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status: end }))
    })
    for (const [place, end] of ends.entries()) {
      const run = await runNow(world, id)
      if (end !== 'open') await world.ended(run)
      else await world.until(() => agent.dispatches.length > place)
    }
    await world.patch(`/api/v1/schedules/${id}`, { max_concurrency: 1, cron: '* * * * * *', ...policies })
    const isPlanned = ({ trigger }: RunView): boolean => trigger === 'schedule'
    const runs = await world.runsOf(id, (all) => decided(all).filter(isPlanned).length >= count)
    await world.del(`/api/v1/schedules/${id}`)
    return decided(runs).filter(isPlanned).slice(0, count)
  })

const MISSED_FIVE = {
  fireNow: { misfire_policy: 'FIRE_NOW' },
  skip: { misfire_policy: 'SKIP' },
  newestTwo: { misfire_policy: 'CATCH_UP_LIMITED', catchup_limit: 2 },
  inTurn: { misfire_policy: 'FIRE_NOW', overlap_action: 'SKIP' },
  attempts: { misfire_policy: 'FIRE_NOW', failure_action: 'RETRY', payload: 'fails' },
  sample: SAMPLE_POLICIES,
} as const satisfies Readonly<Record<string, ScheduleInput>>

type Name = keyof typeof MISSED_FIVE | 'many'

/** Longer than a run takes on a busy machine. */
export const SPACING_MS = 1_500

/** More than `queue_depth` and one slot hold. */
const MANY = 12

/** Servers were away for five seconds, and for more; what the next one makes of each missed second. */
export const misfires = onceAlone(async (servers) => {
  const many = await missSeconds(servers, MANY, [{ misfire_policy: 'FIRE_NOW' }])
  const five = await missSeconds(servers, 5, Object.values(MISSED_FIVE))
  const node = await servers.start({
    schedules: { catchup_spacing_ms: SPACING_MS },
    agents: {
      worker: ({ payload }) => {
        if (labelOf(payload) === 'fails') throw new Error('as asked')
        return 'done'
      },
    },
  })
  const names: readonly Name[] = [...(Object.keys(MISSED_FIVE) as Name[]), 'many']
  const shown: Partial<Record<Name, readonly RunView[]>> = {}
  for (const [index, id] of [...five.ids, ...many.ids].entries()) {
    const name = names[index] ?? 'many'
    shown[name] = await eventually(async () => {
      const runs = await runsOf(node, id)
      expect(runs.map(({ finished_at }) => finished_at)).not.toContain(null)
      expect(runs).toHaveLength(name === 'many' ? MANY : 5)
      return runs
    }, 60_000)
  }
  const { body: config } = await node.raw('GET', '/api/v1/config')
  const of = (name: Name): readonly RunView[] => shown[name] ?? []
  return { of, moments: five.moments, config }
})

/** How long after the first of them each run started, in ms. */
export const startsOf = (runs: readonly RunView[]): readonly number[] =>
  runs.map(({ started_at }) => timeOf(started_at) - timeOf(runs[0]?.started_at ?? null))
