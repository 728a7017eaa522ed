import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sessionKey } from '../../../src/domain/ids.ts'
import { explainWait } from '../../../src/domain/queue/gates.ts'
import { createReadyQueue, type ReadyQueue } from '../../../src/domain/queue/ready-queue.ts'
import { isInFlight } from '../../../src/domain/run/run.ts'
import { createRandom } from '../../simulation/random.ts'
import { createWindowedQueue, WINDOW_MISTAKES } from './windowed-queue.ts'
import { naivePick, positionOf } from './naive-picker.ts'
import { crowd, type Step, STEPS } from './ready-queue-steps.ts'
import {
  AGENTS,
  aWorld,
  candidateOf,
  factsOf,
  flying,
  laneIn,
  momentIn,
  ORG,
  queued,
  standingOf,
  takeTurn,
  type World,
} from './ready-queue-world.ts'

/** The picker that it is held to is slow on purpose; only what hangs takes this long. */
const PATIENCE_MS = 600_000

/** Worlds per window. */
const WINDOWED_WORLDS = 150

const steps = Object.entries(STEPS).map(([name, { weight }]) => ({ weight, arbitrary: fc.constant(name) }))
const happening = fc.record({ what: fc.oneof(...steps), seed: fc.nat(1_000_000) })
/** More often than not many runs of few lines wait. */
const crowded = fc.record({
  what: fc.oneof({ weight: 20, arbitrary: fc.constant('crowd') }, ...steps),
  seed: fc.nat(1_000_000),
})
const crowdedLife = fc.noBias(
  fc.array(fc.array(crowded, { minLength: 1, maxLength: 14, size: 'max' }), {
    minLength: 1,
    maxLength: 24,
    size: 'max',
  }),
)
const round = fc.array(happening, { minLength: 1, maxLength: 14, size: 'max' })
const life = fc.noBias(fc.array(round, { minLength: 1, maxLength: 24, size: 'max' }))

const stepOf = (what: string): Step => STEPS[what]?.step ?? crowd

function expectSameCounts(world: World, lineUp: ReadyQueue): void {
  const told = {
    size: lineUp.size(),
    inFlight: lineUp.inFlight(),
    tasks: lineUp.tasksInFlight(),
    agents: AGENTS.map((id) => [lineUp.inFlightOf(id), lineUp.queuedOf(id)]),
    lanes: [...world.lanes.keys()].map((name) => [lineUp.queuedIn(name), lineUp.inFlightIn(name)]),
  }
  const [up, waiting] = [flying(world), queued(world)]
  expect(told).toEqual({
    size: world.runs.size,
    inFlight: up.length,
    tasks: up.filter((run) => run.trigger === 'task').length,
    agents: AGENTS.map((id) => [up, waiting].map((runs) => runs.filter((run) => run.agentId === id).length)),
    lanes: [...world.lanes.keys()].map((name) =>
      [waiting, up].map((runs) => runs.filter((run) => laneIn(world, run) === name).length),
    ),
  })
}

function expectSameReasons(world: World, lineUp: ReadyQueue): void {
  for (const run of world.runs.values()) {
    const executable = !world.offline.has(run.executorKey)
    const why = lineUp.explain(run.id, { ...momentIn(world, laneIn(world, run)), executable })
    const others = queued(world).filter((other) => other.agentId === run.agentId)
    const position = positionOf(run, others)
    expect(lineUp.positionOf(run.id)).toBe(run.state === 'queued' ? position : null)
    if (isInFlight(run.state)) expect(why).toBeNull()
    else expect(why).toEqual(explainWait(candidateOf(world, run), standingOf(world, run), position))
  }
}

describe('a line-up, whatever happens', () => {
  it(
    'picks what a picker that starts from nothing picks, in the same order',
    () => {
      let picks = 0
      fc.assert(
        fc.property(life, (rounds) => {
          const [world, lineUp] = [aWorld(), createReadyQueue(ORG)]
          lineUp.setLanes(new Set(world.lanes.keys()))
          for (const happenings of rounds) {
            for (const { what, seed } of happenings) STEPS[what]?.step(world, lineUp, createRandom(seed))
            const expected = naivePick(factsOf(world)).map((run) => run.id)
            expect(takeTurn(world, lineUp)).toEqual(expected)
            picks += expected.length
          }
          expectSameCounts(world, lineUp)
          expectSameReasons(world, lineUp)
        }),
        { seed: 20260115, numRuns: 600 },
      )
      expect(picks).toBeGreaterThan(10_000)
    },
    PATIENCE_MS,
  )

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [8, 3],
  ])(
    'picks the same with only %i runs of a line and %i of a session in memory',
    (line, session) => {
      let [picks, loads] = [0, 0]
      fc.assert(
        fc.property(crowdedLife, (rounds) => {
          const [world, queue] = [aWorld(), createWindowedQueue(ORG, { line, session })]
          queue.setLanes(new Set(world.lanes.keys()))
          for (const happenings of rounds) {
            for (const { what, seed } of happenings) stepOf(what)(world, queue, createRandom(seed))
            const expected = naivePick(factsOf(world)).map((run) => run.id)
            expect(takeTurn(world, queue)).toEqual(expected)
            picks += expected.length
          }
          loads += queue.loads()
        }),
        { seed: 20260116, numRuns: WINDOWED_WORLDS, endOnFailure: true },
      )
      expect(picks).toBeGreaterThan(4 * WINDOWED_WORLDS)
      expect(loads).toBeGreaterThan(WINDOWED_WORLDS / 10)
    },
    PATIENCE_MS,
  )

  it.each(WINDOW_MISTAKES)(
    'would not pick the same if %s',
    (mistake) => {
      const result = fc.check(
        fc.property(crowdedLife, (rounds) => {
          const [world, queue] = [aWorld(), createWindowedQueue(ORG, { line: 2, session: 1 }, mistake)]
          queue.setLanes(new Set(world.lanes.keys()))
          for (const happenings of rounds) {
            for (const { what, seed } of happenings) stepOf(what)(world, queue, createRandom(seed))
            const expected = naivePick(factsOf(world)).map((run) => run.id)
            expect(takeTurn(world, queue)).toEqual(expected)
          }
        }),
        { seed: 20260117, numRuns: 600, endOnFailure: true },
      )
      expect(result.failed).toBe(true)
    },
    PATIENCE_MS,
  )

  it('remembers nothing of runs, sessions and agents that are gone', () => {
    fc.assert(
      fc.property(life, (rounds) => {
        const [world, lineUp] = [aWorld(), createReadyQueue(ORG)]
        for (const { what, seed } of rounds.flat()) STEPS[what]?.step(world, lineUp, createRandom(seed))
        takeTurn(world, lineUp)
        for (const id of world.runs.keys()) lineUp.remove(id)
        world.runs.clear()
        for (const key of world.sessions.keys()) lineUp.forgetSession(key)
        expectSameCounts(world, lineUp)
        expect(['s0', 's1', 's2', 's3', 's4'].map((key) => lineUp.session(sessionKey(key)))).toEqual(
          Array.from({ length: 5 }, () => null),
        )
        for (const lane of world.lanes.keys()) expect(lineUp.hasReady(lane)).toBe(false)
        expect(lineUp.wakesAt()).toBeNull()
      }),
      { seed: 7, numRuns: 100 },
    )
  })
})
