import { describe, expect, it } from 'vitest'
import type { HandledAttempt, Records, StoredRun, Submission } from '../records.ts'
import { audit } from './audit.ts'

// An audit that cannot fail proves nothing: for each way to be wrong there is a record here that is wrong in that way,
// beside the one that is as it should be.

const SESSION = 'agent:helper:chaos:fifo:1'
const GROUP = 'agent:helper:chaos:group:1'
const T = Date.UTC(2026, 10, 15, 12)

const submission = (id: string, over: Partial<Submission> = {}): Submission => ({
  id,
  to: SESSION,
  sentAt: T,
  answeredAt: T + 5,
  outcome: 'accepted',
  run: `run_${id}`,
  code: null,
  ...over,
})

const handled = (id: string, over: Partial<HandledAttempt> = {}): HandledAttempt => ({
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

const stored = (id: string, over: Partial<StoredRun> = {}): StoredRun => ({
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

const records = (over: Partial<Records> = {}): Records => ({
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

const found = (over: Partial<Records>): readonly string[] =>
  audit(records(over)).findings.map(({ wrong, what }) => `${wrong}: ${what}`)

const one = (id = '1'): Partial<Records> => ({
  submissions: [submission(id)],
  handled: [handled(id)],
  runs: [stored(id)],
})

describe('nothing wrong', () => {
  it('finds nothing in records that agree', () => {
    expect(found(one())).toEqual([])
  })

  it('asks nothing of a submission whose answer nobody saw', () => {
    expect(found({ submissions: [submission('1', { outcome: 'unknown', run: null, answeredAt: null })] })).toEqual([])
  })

  it('accepts a refusal that left a rejected run', () => {
    const runs = [stored('1', { ending: 'rejected', attempts: [] })]
    expect(found({ submissions: [submission('1', { outcome: 'refused', code: 'QUEUE_FULL' })], runs })).toEqual([])
  })

  it('accepts messages that were merged into one run', () => {
    const submissions = [submission('1'), submission('2', { run: 'run_1' })]
    expect(found({ ...one(), submissions, runs: [stored('1', { submissions: ['1', '2'] })] })).toEqual([])
  })
})

describe('lost', () => {
  it('an answered submission without a run', () => {
    expect(found({ submissions: [submission('1')] })).toEqual(['lost: an answered submission has no run'])
  })

  it('an answered submission whose run carries other words', () => {
    expect(found({ ...one(), runs: [stored('1', { submissions: [] })] })).toEqual([
      'lost: the run of an answered submission does not carry it',
    ])
  })

  it('an answered submission whose run has not ended, which is stuck besides', () => {
    const attempts = [{ id: 'a', number: 1, node: 'nod_a', startedAt: T + 8, finishedAt: null, errorCode: null }]
    expect(found({ ...one(), runs: [stored('1', { ending: null, finishedAt: null, attempts, endings: 0 })] })).toEqual([
      'lost: the run of an answered submission has not ended',
      'stuck: a run has not ended',
    ])
  })

  it('a refused submission that ran all the same', () => {
    expect(found({ ...one(), submissions: [submission('1', { outcome: 'refused', code: 'QUEUE_FULL' })] })).toEqual([
      'lost: a refused submission left a run that was not rejected',
    ])
  })

  it('a success that no handler brought home', () => {
    expect(found({ ...one(), handled: [] })).toEqual(['lost: a run ended in success, and no handler finished it'])
    expect(found({ ...one(), handled: [handled('1', { how: 'aborted' })] })).toEqual([
      'lost: a run ended in success, and no handler finished it',
    ])
  })

  it('work on a run that is not in the database', () => {
    expect(found({ handled: [handled('1')] })).toEqual(['lost: a handler worked on a run that is not in the database'])
  })

  it('an occurrence that nobody decided', () => {
    const schedules = [{ id: 'sch_1', name: 'plain', intervalMs: 1_000, until: T + 3_000, limit: null }]
    const run = (tick: number): StoredRun =>
      stored(`t${tick}`, {
        ...{ trigger: 'schedule', schedule: 'sch_1', nominal: T + tick * 1_000, session: null, submissions: [] },
        ...{ ending: 'skipped', attempts: [], createdAt: T + tick * 1_000 + 1 },
      })
    const range = { schedule: 'sch_1', first: T + 1_000, last: T + 2_000, count: 2 }
    expect(found({ schedules, runs: [run(0), run(3)], ranges: [range] })).toEqual([])
    expect(found({ schedules, runs: [run(0), run(1), run(3)] })).toEqual([
      'lost: an occurrence of plain was never decided',
    ])
    expect(found({ schedules, runs: [run(0), run(1)] })).toHaveLength(2)
    expect(found({ schedules })).toEqual(['lost: schedule plain never fired'])
  })
})

describe('doubled', () => {
  it('one submission in two runs', () => {
    const runs = [stored('1'), stored('2', { submissions: ['1'], ending: 'dropped', attempts: [] })]
    expect(found({ ...one(), runs })).toEqual(['doubled: submission 1 is in 2 runs'])
  })

  it('two runs for one nominal time, whatever their triggers', () => {
    const run = (id: string, trigger: StoredRun['trigger']): StoredRun =>
      stored(id, {
        trigger,
        schedule: 'sch_1',
        nominal: T,
        session: null,
        submissions: [],
        ending: 'skipped',
        attempts: [],
      })
    expect(found({ runs: [run('1', 'schedule'), run('2', 'catchup')] })).toEqual([
      `doubled: occurrence sch_1 ${T} has 2 runs`,
    ])
    expect(found({ runs: [run('1', 'schedule'), run('2', 'manual')] })).toEqual([])
  })

  it('a run that ended twice', () => {
    expect(found({ ...one(), runs: [stored('1', { endings: 2 })] })).toEqual(['doubled: a run ended 2 times'])
  })

  const second = (over: Partial<HandledAttempt> = {}): HandledAttempt =>
    handled('1', { number: 2, process: 'b', startedAt: T + 5_000, endedAt: T + 5_040, ...over })
  const first = (over: Partial<HandledAttempt> = {}): HandledAttempt =>
    handled('1', { endedAt: null, how: null, ...over })
  const twice = (attempts: readonly HandledAttempt[], over: Partial<Records> = {}): readonly string[] =>
    found({ ...one(), handled: attempts, ...over })
  const seenUntil = (until: number): Records['leases'] => [{ node: 'nod_a', at: until - 4_000, until }]

  it('an attempt that began while the one before it held its lease', () => {
    const message = 'doubled: an attempt began while the one before it still held its lease'
    expect(twice([first(), second()])).toContain(message)
    expect(twice([first(), second()], { leases: seenUntil(T + 5_001) })).toContain(message)
  })

  it('is no doubled attempt when the lease had lapsed, the first one works on or not', () => {
    expect(twice([first(), second()], { leases: seenUntil(T + 4_000) })).toEqual([])
    expect(twice([first({ endedAt: T + 9_000, how: 'ok' }), second()], { leases: seenUntil(T + 4_000) })).toEqual([])
  })

  it('is no doubled attempt when the first had failed before', () => {
    expect(twice([first({ endedAt: T + 50, how: 'failed' }), second()])).toEqual([])
  })

  it('work that was done and is done again although nobody was lost', () => {
    expect(twice([first({ endedAt: T + 50, how: 'ok' }), second()])).toEqual([
      'doubled: an attempt began while the one before it still held its lease',
    ])
  })

  it('the same attempt begun twice', () => {
    const again = first({ process: 'b', startedAt: T + 5_000, endedAt: T + 5_040, how: 'ok' })
    expect(twice([first({ endedAt: T + 50, how: 'failed' }), again])).toEqual([
      'doubled: attempt 1 of a run began twice',
    ])
  })

  it('an attempt that began after its successor, however long its lease had lapsed', () => {
    const late = first({ startedAt: T + 6_000, endedAt: T + 6_050, how: 'aborted' })
    expect(twice([late, second()], { leases: seenUntil(T + 4_000) })).toEqual([
      'doubled: an attempt began although a later one of the same run had begun',
    ])
  })
})

describe('out of session order', () => {
  const pair = (over: {
    readonly second: number
    readonly created: number
    readonly sent: number
  }): Partial<Records> => ({
    submissions: [submission('1'), submission('2', { sentAt: over.sent, answeredAt: over.sent + 5 })],
    handled: [
      handled('1', { startedAt: T + 100, endedAt: T + 110 }),
      handled('2', { startedAt: over.second, endedAt: over.second + 10 }),
    ],
    runs: [stored('1', { attempts: [] }), stored('2', { createdAt: over.created, attempts: [] })],
  })

  it('a run that started before one that was created earlier', () => {
    expect(found(pair({ second: T + 200, created: T + 2, sent: T + 1 }))).toEqual([])
    expect(found(pair({ second: T + 50, created: T + 2, sent: T + 1 }))).toEqual([
      'out of session order: a run started after one that was created later',
    ])
  })

  it('a submission that started before one that had been answered before it was sent', () => {
    expect(found(pair({ second: T + 200, created: T + 1, sent: T + 20 }))).toEqual([])
    expect(found(pair({ second: T + 50, created: T + 1, sent: T + 20 }))).toEqual([
      'out of session order: a submission started before one that had been answered before it was sent',
    ])
  })

  it('has no opinion on sessions that merge or delay', () => {
    expect(found({ ...pair({ second: T + 50, created: T + 2, sent: T + 20 }), orderedSessions: new Set() })).toEqual([])
  })

  it('two attempts of one session at the same time, unless the lease of the first had lapsed', () => {
    const over: Partial<Records> = {
      submissions: [submission('1'), submission('2')],
      handled: [
        handled('1', { endedAt: T + 9_000 }),
        handled('2', { process: 'b', startedAt: T + 5_000, endedAt: T + 5_050 }),
      ],
      runs: [stored('1', { attempts: [] }), stored('2', { attempts: [] })],
    }
    expect(found(over)).toEqual([`out of session order: two attempts of ${SESSION} at the same time`])
    expect(found({ ...over, leases: [{ node: 'nod_a', at: T, until: T + 4_000 }] })).toEqual([])
    const died = [{ name: 'a', readyAt: T, diedAt: T + 100 }]
    const unended = (over.handled ?? []).map((attempt) => ({ ...attempt, endedAt: null }))
    expect(found({ ...over, processes: died, handled: unended })).toEqual([])
  })
})

describe('limits exceeded', () => {
  /** So many runs at the same time, in the database and by the handlers. */
  const crowd = (count: number, run: Partial<StoredRun>, attempt: Partial<HandledAttempt> = {}): Partial<Records> => {
    const ids = Array.from({ length: count }, (_, index) => `c${index}`)
    const { trigger = 'message', agent = 'helper', session = null, lane = 'other', schedule = null } = run
    return {
      runs: ids.map((id) => stored(id, { trigger, agent, session, lane, schedule, submissions: [], ...run })),
      handled: ids.map((id) => handled(id, { trigger, agent, session, schedule, ...attempt })),
    }
  }

  it.each([
    ['session', 2, { session: GROUP }, [`session in the database (${GROUP})`, `session by the handlers (${GROUP})`]],
    [
      'agent',
      1,
      { agent: 'writer' },
      ['agent in the database (default writer)', 'agent by the handlers (default writer)'],
    ],
    ['org', 3, {}, ['org in the database (default)', 'org by the handlers (default)']],
    [
      'lane of a node',
      2,
      { lane: 'main' },
      ['lane main of a node in the database (nod_a)', 'lane main of a node by the handlers (a)'],
    ],
    ['catch-ups of a node', 1, { trigger: 'catchup' }, ['catch-ups of a node in the database (nod_a)']],
    [
      'tasks of an agent',
      1,
      { trigger: 'task' },
      ['tasks of an agent in the database (default helper)', 'tasks of an agent by the handlers (default helper)'],
    ],
  ] as const)('%s', (_, limit, run, whats) => {
    expect(found(crowd(limit, run))).toEqual([])
    const said = found(crowd(limit + 1, run)).map((finding) => finding.replace(/ at [^ ]+Z$/, ''))
    expect(said).toEqual(whats.map((what) => `limits exceeded: ${limit + 1} of ${limit} for ${what}`))
  })

  it('knows which limits were reached, and which prove nothing', () => {
    const few = audit(records(crowd(1, { lane: 'main' })))
    expect([...few.limitsReached]).toEqual([])
    expect([...few.limitsUnreached].sort()).toEqual(['lane main of a node', 'org'])
    const many = audit(records(crowd(2, { lane: 'main' })))
    expect([...many.limitsReached]).toEqual(['lane main of a node'])
  })

  it('counts an attempt in its lane while its handler works, and elsewhere from its claim to its report', () => {
    const third = (from: number): Partial<Records> => {
      const { runs = [], handled: attempts = [] } = crowd(2, { lane: 'main', agent: 'writer' })
      const startedAt = T + 20
      const attempt = { id: 'att_c9_1', number: 1, node: 'nod_a', startedAt, finishedAt: T + 90, errorCode: null }
      return {
        runs: [...runs, stored('c9', { session: null, submissions: [], attempts: [attempt], finishedAt: T + 90 })],
        handled: [...attempts, handled('c9', { session: null, startedAt: from, endedAt: T + 80 })],
      }
    }
    const lanes = (over: Partial<Records>): readonly string[] =>
      found(over).filter((finding) => finding.includes('lane main'))
    expect(lanes(third(T + 49))).not.toEqual([])
    expect(lanes(third(T + 50))).toEqual([])
    expect(found(third(T + 50)).some((finding) => finding.includes('agent in the database'))).toBe(true)
  })

  it('tasks of the org', () => {
    const tasks = (count: number): Partial<Records> => {
      const { runs = [], handled: attempts = [] } = crowd(count, { trigger: 'task' })
      return {
        runs: runs.map((run, index) => ({ ...run, agent: `tabs${index}` })),
        handled: attempts.map((attempt, index) => ({ ...attempt, agent: `tabs${index}` })),
      }
    }
    expect(found(tasks(2))).toEqual([])
    expect(found(tasks(3))).toHaveLength(2)
  })

  it('slots of a schedule, except those of superseded runs', () => {
    const schedules = [{ id: 'sch_1', name: 'plain', intervalMs: 1_000, until: T, limit: 1 }]
    const over = crowd(2, { trigger: 'schedule', schedule: 'sch_1' })
    const runs = (over.runs ?? []).map((run, index) => ({ ...run, nominal: T - index * 1_000 }))
    expect(found({ ...over, runs, schedules })).toEqual([
      `limits exceeded: 2 of 1 for schedule in the database (sch_1) at ${new Date(T + 8).toISOString()}`,
    ])
    const superseded = runs.map((run, index) => ({ ...run, superseded: index === 0 }))
    expect(found({ ...over, runs: superseded, schedules })).toEqual([])
  })

  it('counts a run in its session through the wait between two attempts', () => {
    const attempt = {
      number: 1,
      node: 'nod_a',
      startedAt: T + 8,
      finishedAt: T + 20,
      errorCode: 'agent_error',
    } as const
    const waits = stored('1', {
      finishedAt: T + 900,
      attempts: [
        { ...attempt, id: 'att_1_1' },
        { ...attempt, id: 'att_1_2', number: 2, startedAt: T + 800, finishedAt: T + 900 },
      ],
    })
    const other = stored('2', {
      attempts: [{ ...attempt, id: 'att_2_1', startedAt: T + 100, finishedAt: T + 200 }],
    })
    const attempts = [
      handled('1', { how: 'failed', endedAt: T + 19 }),
      handled('2', { startedAt: T + 101, endedAt: T + 199 }),
      handled('1', { number: 2, startedAt: T + 801, endedAt: T + 899 }),
    ]
    expect(found({ handled: attempts, runs: [waits, other] })).toEqual([
      `limits exceeded: 2 of 1 for session in the database (${SESSION}) at ${new Date(T + 100).toISOString()}`,
    ])
  })

  it('lets what begins take the room of what ends at the same time', () => {
    const runs = [
      stored('1', {
        finishedAt: T + 100,
        attempts: [{ id: 'x', number: 1, node: 'nod_a', startedAt: T, finishedAt: T + 100, errorCode: null }],
      }),
      stored('2', {
        finishedAt: T + 200,
        attempts: [{ id: 'y', number: 1, node: 'nod_a', startedAt: T + 100, finishedAt: T + 200, errorCode: null }],
      }),
    ]
    expect(
      found({
        runs,
        handled: [handled('1', { endedAt: T + 99 }), handled('2', { startedAt: T + 101, endedAt: T + 150 })],
      }),
    ).toEqual([])
  })
})

describe('what is counted', () => {
  it('tells re-attempts after a lost node from retries after a failure', () => {
    const attempt = { node: 'nod_a', startedAt: T, finishedAt: T + 1 } as const
    const attempts = (['node_lost', 'agent_error', 'node_shutdown', null] as const).map((errorCode, index) => ({
      ...attempt,
      ...{ id: `att_${index}`, number: index + 1, errorCode },
    }))
    const { reattempts } = audit(records({ runs: [stored('1', { attempts })] }))
    expect(reattempts).toEqual({ lapsed: 2, failed: 1 })
  })

  it('counts skipped occurrences by reason, ranges with all they hold', () => {
    const skipped = (id: string, reason: string): StoredRun =>
      stored(id, { ending: 'skipped', reason, attempts: [], submissions: [] })
    const { skipped: counts } = audit(
      records({
        runs: [skipped('1', 'misfire'), skipped('2', 'overlap')],
        ranges: [{ schedule: 'sch_1', first: T, last: T + 199_000, count: 200 }],
      }),
    )
    expect(Object.fromEntries(counts)).toEqual({ misfire: 201, overlap: 1 })
  })

  it('counts acknowledged submissions per second of load', () => {
    const submissions = [submission('1'), submission('2', { outcome: 'unknown', run: null })]
    expect(audit(records({ submissions, load: { from: T, until: T + 500 } })).acceptedPerSecond).toBe(2)
  })

  const stop = { kind: 'stop_long', process: 'a', from: T + 1_000, until: T + 7_000 } as const
  const startsOfB = (...times: readonly number[]): readonly HandledAttempt[] =>
    times.map((at, index) => handled(String(index), { process: 'b', startedAt: T + at }))

  it('finds the longest gap of a healthy node while another was away', () => {
    const gap = (handledBy: readonly HandledAttempt[], over: Partial<Records> = {}) =>
      audit(records({ handled: handledBy, faults: [stop], ...over })).gap
    expect(gap(startsOfB(500, 1_500, 4_000, 6_900))).toEqual({ process: 'b', from: T + 4_000, ms: 2_900 })
    expect(gap([])).toEqual({ process: 'b', from: T + 1_000, ms: 6_000 })
    const died = records().processes.map((process) => ({ ...process, diedAt: T + 2_000 }))
    expect(gap([], { processes: died })).toEqual({ process: 'b', from: T + 1_000, ms: 1_000 })
    expect(audit(records({ handled: startsOfB(1) })).gap).toBeNull()
  })

  it('holds no gap against a node that was hurt itself, before it is back at work', () => {
    const hurt = { kind: 'net_forgotten', process: 'b', from: T + 500, until: T + 2_000 } as const
    const { gap } = audit(records({ handled: startsOfB(400, 5_500, 6_900), faults: [stop, hurt] }))
    expect(gap).toEqual({ process: 'b', from: T + 5_500, ms: 1_400 })
  })

  it('finds how long a node took to be back at work, and does not count what was done to it meanwhile', () => {
    const load = { from: T, until: T + 20_000 }
    const processes = [{ name: 'b', readyAt: T - 1_000, diedAt: null }]
    const silence = (faults: Records['faults']) =>
      audit(records({ handled: startsOfB(0, 1_000, 12_000, 19_500), processes, load, faults })).silence
    expect(silence([])).toEqual({ process: 'b', from: T + 1_000, ms: 11_000 })
    const mine = { kind: 'net_silent_long', process: 'b', from: T + 1_500, until: T + 7_000 } as const
    expect(silence([{ ...mine, process: 'a' }])).toEqual({ process: 'b', from: T + 1_000, ms: 11_000 })
    expect(silence([mine])).toEqual({ process: 'b', from: T + 12_000, ms: 7_500 })
    const everybodys = { kind: 'restart', process: null, from: T + 13_000, until: T + 14_000 } as const
    expect(silence([mine, everybodys])).toEqual({ process: 'b', from: T + 14_000, ms: 5_500 })
  })
})

describe('the times of occurrences', () => {
  const occurrence = (id: string, over: Partial<StoredRun> = {}): StoredRun =>
    stored(id, { trigger: 'schedule', schedule: 'sch_1', session: null, submissions: [], nominal: T, ...over })
  const work = (id: string, over: Partial<HandledAttempt> = {}): HandledAttempt =>
    handled(id, { trigger: 'schedule', schedule: 'sch_1', session: null, ...over })

  it('finds what was decided or begun before its time', () => {
    expect(found({ runs: [occurrence('1')], handled: [work('1')] })).toEqual([])
    expect(found({ runs: [occurrence('1', { createdAt: T - 0.5 })], handled: [work('1')] })).toEqual([
      'early: an occurrence was decided before its time',
    ])
    expect(found({ runs: [occurrence('1')], handled: [work('1', { startedAt: T - 1 })] })).toEqual([
      'early: an occurrence began before its time',
    ])
  })

  it('finds the latest decision of those that fell due while a node had the wrong time', () => {
    const runs = [
      occurrence('1', { createdAt: T + 900 }),
      occurrence('2', { nominal: T + 2_000, createdAt: T + 2_040 }),
      occurrence('3', { nominal: T + 3_000, createdAt: T + 3_300 }),
      occurrence('4', { nominal: T + 3_000, createdAt: T + 9_000, trigger: 'catchup' }),
    ]
    const step = { kind: 'clock_step', process: 'a', from: T + 1_000, until: T + 4_000 } as const
    expect(audit(records({ runs, faults: [step] })).lateness).toEqual({ run: 'run_3', ms: 300 })
    expect(audit(records({ runs })).lateness).toBeNull()
  })
})

describe('submissions whose senders never heard of them', () => {
  const unknown = (id: string): Submission => submission(id, { outcome: 'unknown', run: null, answeredAt: null })

  it('are counted as kept or not, and may not be kept twice', () => {
    const handledToo = [handled('1'), handled('1b')]
    const runs = [stored('1')]
    expect(audit(records({ submissions: [unknown('1'), unknown('2')], runs })).unheard).toEqual({ kept: 1, never: 1 })
    const twice = [...runs, stored('1b', { submissions: ['1'], createdAt: T + 2 })]
    expect(found({ submissions: [unknown('1')], runs: twice, handled: handledToo })).toContain(
      'doubled: submission 1 is in 2 runs',
    )
  })

  it('may not have been refused in the end, when they had been kept before', () => {
    const refused = submission('1', { outcome: 'refused', run: null, code: 'QUEUE_FULL' })
    expect(found({ submissions: [refused], runs: [stored('1')], handled: [handled('1')] })).toEqual([
      'lost: a refused submission left a run that was not rejected',
    ])
  })
})

describe('a failover that lost the last transactions', () => {
  const tail = { from: T, until: T + 1_000, back: T + 1_500 }
  const faults = [{ kind: 'failover', process: null, from: T, until: T + 2_000, tail }] as const

  it('may take back what was answered after the copy, and nothing that was answered before or after it', () => {
    const answered = (sentAt: number): Partial<Records> => ({
      submissions: [submission('1', { sentAt, answeredAt: sentAt + 5 })],
      faults,
    })
    expect(found(answered(T + 10))).toEqual([])
    expect(found(answered(T - 100))).toEqual(['lost: an answered submission has no run'])
    expect(found(answered(T + 1_600))).toEqual(['lost: an answered submission has no run'])
    expect(audit(records(answered(T + 10))).withTails).toEqual({ submissions: 1, attempts: 0 })
  })

  it('leaves attempts behind that are on nobody’s record, but none begins after it', () => {
    const begun = (startedAt: number): Partial<Records> => ({
      handled: [handled('1', { startedAt, endedAt: startedAt + 20 })],
      faults,
    })
    expect(found(begun(T + 500))).toEqual([])
    expect(audit(records(begun(T + 500))).withTails.attempts).toBe(1)
    expect(found(begun(T + 1_600))).toEqual(['unrecorded: an attempt began that is not on record'])
  })

  it('lets a run begin again whose start or end it took back, and no two of a session at once', () => {
    const again = { startedAt: T + 2_000, endedAt: T + 2_040 }
    const attempts = [
      { id: 'att_1_2', number: 1, node: 'nod_b', startedAt: T + 1_990, finishedAt: T + 2_050, errorCode: null },
    ]
    const started: Partial<Records> = {
      ...one(),
      handled: [handled('1'), handled('1', { ...again, id: 'att_1_2', process: 'b', node: 'nod_b' })],
      runs: [stored('1', { attempts, finishedAt: T + 2_050 })],
      faults,
    }
    expect(found(started)).toEqual([])
    expect(found({ ...started, faults: [] })).toContain('doubled: attempt 1 of a run began twice')
    const other = { process: 'b', node: 'nod_b', startedAt: T + 2_010, endedAt: T + 2_060 }
    const beside: Partial<Records> = {
      ...started,
      handled: [...(started.handled ?? []), handled('2', other)],
      runs: [...(started.runs ?? []), stored('2', { createdAt: T + 1_980, submissions: [] })],
    }
    expect(found(beside)).toContain(`out of session order: two attempts of ${SESSION} at the same time`)
  })
})

describe('an attempt that ended before the copy of a failover was made', () => {
  const tail = { from: T + 20_000, until: T + 21_000, back: T + 21_500 }
  const failover = { kind: 'failover', process: null, from: T + 20_000, until: T + 22_000, tail } as const
  const cut = { kind: 'net_half', process: 'a', from: T + 15_000, until: T + 15_000 } as const
  const again = { id: 'att_1_2', process: 'b', node: 'nod_b', number: 2, startedAt: T + 40_000, endedAt: T + 40_050 }
  const attempts = [
    { id: 'att_1_1', number: 1, node: 'nod_a', startedAt: T + 15_990, finishedAt: T + 39_000, errorCode: 'node_lost' },
    { id: 'att_1_2', number: 2, node: 'nod_b', startedAt: T + 39_990, finishedAt: T + 40_060, errorCode: null },
  ]
  const leases = Array.from({ length: 250 }, (_, tick) => ({
    ...{ node: 'nod_a', at: T + tick * 200, until: T + 4_000 + tick * 200 },
  }))
  const twice = (faults: Records['faults']): readonly string[] =>
    found({
      ...one(),
      handled: [handled('1', { startedAt: T + 16_000, endedAt: T + 16_050 }), handled('1', again)],
      runs: [stored('1', { attempts, finishedAt: T + 40_060 })],
      ...{ faults, leases },
    })

  it('is begun again where its node was cut off, because its report was written late and lost', () => {
    expect(twice([cut, failover])).toEqual([])
  })

  it('is not begun again where nothing had been done to its node', () => {
    expect(twice([failover])).toContain('doubled: an attempt began while the one before it still held its lease')
  })
})

describe('a server that stood still', () => {
  const faults = [{ kind: 'stall', process: null, from: T + 1_000, until: T + 10_000 }] as const
  const attempts = [
    { id: 'att_1_1', number: 1, node: 'nod_a', startedAt: T + 8, finishedAt: T + 10_100, errorCode: 'node_lost' },
  ]
  const lost: Partial<Records> = { ...one(), runs: [stored('1', { attempts })], faults }

  it('is no reason to take a node for lost', () => {
    expect(found(lost)).toEqual(['wrongly lost: a was alive while the server stood still'])
  })

  it('is none to keep one that died', () => {
    expect(found({ ...lost, processes: [{ name: 'a', readyAt: T, diedAt: T + 500 }] })).toEqual([])
    expect(found({ ...lost, faults: [] })).toEqual([])
  })
})

describe('fairness', () => {
  const SMALL = 'agent:helper:org-1:fifo:1'
  const start = (at: number): StoredRun['attempts'] => [
    { id: `att_${at}`, number: 1, node: 'nod_a', startedAt: at, finishedAt: at + 1, errorCode: null },
  ]
  const world = (startedAt: number, others: readonly number[]): Records => ({
    ...records({
      runs: [
        stored('s', {
          org: 'org-1',
          session: SMALL,
          submissions: [],
          attempts: start(startedAt),
          finishedAt: startedAt,
        }),
        ...others.map((at) =>
          stored(`o${at}`, { session: null, submissions: [], attempts: start(at), ending: 'failed' }),
        ),
      ],
    }),
    limits: { ...records().limits, sessions: new Map([[SMALL, 1]]) },
  })
  const every = (ms: number, until: number): readonly number[] =>
    Array.from({ length: until / ms }, (_, index) => T + index * ms)
  const unfair = (of: Records): readonly string[] =>
    audit(of).findings.flatMap(({ wrong, what }) => (wrong === 'unfair' ? [what] : []))

  it('is missing when a small org waits while others start in its lane', () => {
    expect(unfair(world(T + 7_000, every(100, 7_000)))).toEqual(['a run of org-1 waited 6899 ms'])
  })

  it('is there when it waits a little, or while nobody starts anything', () => {
    expect(unfair(world(T + 500, every(100, 7_000)))).toEqual([])
    expect(audit(world(T + 501, every(100, 7_000))).fairness).toMatchObject({ orgs: 1, runs: 1, p99Ms: 500 })
    expect(unfair(world(T + 7_000, [T, T + 6_900]))).toEqual([])
  })
})
