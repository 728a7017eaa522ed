import { describe, expect, it } from 'vitest'
import { parseClawJobs, type ClawJob } from '../../../src/domain/import/openclaw.ts'

const turn = { kind: 'agentTurn', message: 'Summarize overnight updates.' }
const daily = { kind: 'cron', expr: '0 7 * * *', tz: 'America/Los_Angeles' }

const jobOf = (job: object): ClawJob => {
  const jobs = parseClawJobs(JSON.stringify({ version: 1, jobs: [job] }))
  if (typeof jobs === 'string') throw new Error(jobs)
  const [first] = jobs
  if (first === undefined) throw new Error('no job')
  return first
}

describe('a jobs file', () => {
  it('may have comments', () => {
    const file = `// kept by hand\n{"jobs": [${JSON.stringify({ id: 'j1', name: 'x', schedule: daily, payload: turn })} /* one */]}`
    expect(parseClawJobs(file)).toMatchObject([{ identity: 'j1' }])
  })
})

describe('a job', () => {
  it.each<readonly [what: string, job: object, found: object]>([
    [
      'that runs by cron in a session of its own',
      { id: 'j1', name: 'Morning brief', schedule: daily, sessionTarget: 'isolated', wakeMode: 'now', payload: turn },
      {
        ...{ identity: 'j1', name: 'Morning brief', enabled: true, agent: null, delivery: null, notes: [] },
        fields: {
          ...{ cron: '0 7 * * *', timezone: 'America/Los_Angeles', session: 'isolated' },
          payload: { prompt: 'Summarize overnight updates.' },
        },
      },
    ],
    [
      'that reminds once in the main session',
      {
        ...{ id: 'j2', name: 'Reminder', schedule: { kind: 'at', at: '2027-02-01T16:00:00Z' }, sessionTarget: 'main' },
        ...{ wakeMode: 'now', payload: { kind: 'systemEvent', text: 'Check the draft' }, deleteAfterRun: true },
      },
      {
        fields: {
          at: '2027-02-01T16:00:00.000Z',
          payload: { prompt: 'Check the draft' },
          session: 'main',
          delete_after_run: true,
        },
      },
    ],
    [
      'with a time without an offset, which is one of UTC',
      {
        id: 'j3',
        name: 'x',
        schedule: { kind: 'at', at: '2027-02-01T16:00' },
        payload: { kind: 'systemEvent', text: 'x' },
      },
      { fields: { at: '2027-02-01T16:00:00.000Z' } },
    ],
    [
      'of an older version, with atMs and no kind',
      { id: 'j4', name: 'x', schedule: { atMs: Date.UTC(2027, 0, 1) }, payload: { text: 'x' } },
      { fields: { at: '2027-01-01T00:00:00.000Z', session: 'main' } },
    ],
    [
      'with an interval and an anchor',
      { id: 'j5', name: 'x', schedule: { kind: 'every', everyMs: 3_600_000, anchorMs: 0 }, payload: turn },
      { fields: { every_seconds: 3600, anchor: '1970-01-01T00:00:00.000Z', session: 'isolated' } },
    ],
    [
      'with an interval that counts from when it was made',
      {
        id: 'j6',
        name: 'x',
        createdAtMs: Date.UTC(2026, 0, 1),
        schedule: { kind: 'every', everyMs: 1_500 },
        payload: turn,
      },
      { fields: { everyMs: 1_500, anchor: '2026-01-01T00:00:00.000Z' } },
    ],
    [
      'of a named agent, with a limit and settings that belong to the agent here',
      {
        ...{ id: 'j7', name: 'x', agentId: 'ops', schedule: daily, description: 'Why' },
        payload: { ...turn, timeoutSeconds: 90, model: 'opus', thinking: 'high' },
      },
      {
        ...{ agent: 'ops', description: 'Why' },
        fields: { timeout_seconds: 90 },
        notes: [
          'payload.model is not carried over: it is a setting of the agent here',
          'payload.thinking is not carried over: it is a setting of the agent here',
        ],
      },
    ],
    [
      'that announces in a channel and waits for a heartbeat',
      {
        ...{ id: 'j8', name: 'x', schedule: daily, wakeMode: 'next-heartbeat', payload: turn },
        delivery: { mode: 'announce', channel: 'slack', to: 'channel:C1', bestEffort: true },
      },
      { delivery: { place: 'slack channel:C1' }, notes: [expect.stringMatching(/next-heartbeat is not carried over/)] },
    ],
    [
      'that posts to an address',
      {
        id: 'j9',
        name: 'x',
        schedule: daily,
        payload: turn,
        delivery: { mode: 'webhook', to: 'https://example.com/x' },
      },
      { delivery: { url: 'https://example.com/x' } },
    ],
    [
      'that delivers as older files say it',
      { id: 'j10', name: 'x', schedule: daily, payload: { ...turn, deliver: true, channel: 'telegram', to: '123' } },
      { delivery: { place: 'telegram 123' } },
    ],
    [
      'that is off and delivers nothing',
      { id: 'j11', name: 'x', enabled: false, schedule: daily, payload: turn, delivery: { mode: 'none' } },
      { enabled: false, delivery: null },
    ],
    [
      'that is spread out, in a session with a key',
      {
        ...{ id: 'j12', name: 'x', schedule: { kind: 'cron', expr: '0 * * * *', staggerMs: 30_000 } },
        ...{ sessionTarget: 'session:ops-room', payload: turn },
      },
      { fields: { jitter_ms: 30_000, session: 'ops-room' }, notes: [] },
    ],
    [
      'at the top of the hour, which is spread out there without being asked',
      { id: 'j13', name: 'x', schedule: { kind: 'cron', expr: '0 * * * *' }, payload: turn },
      { notes: [expect.stringMatching(/5 minutes after the hour/)] },
    ],
    [
      'without a name or an id',
      { schedule: daily, payload: turn },
      { name: 'Summarize overnight updates.', identity: expect.stringContaining('Summarize') as string },
    ],
  ])('%s', (_, job, found) => {
    expect(jobOf(job)).toMatchObject(found)
  })

  it.each<readonly [what: string, job: unknown, why: RegExp]>([
    ['that is no object', 7, /is not an object/],
    ['without a schedule', { id: 'x', payload: turn }, /no other field sets a time/],
    [
      'of a kind nobody knows',
      { id: 'x', schedule: { kind: 'moon' }, payload: turn },
      /schedule.kind moon is not one of/,
    ],
    ['at no time', { id: 'x', schedule: { kind: 'at', at: 'soon' }, payload: turn }, /schedule.at is not a time/],
    ['every so many nothings', { id: 'x', schedule: { kind: 'every', everyMs: '5m' }, payload: turn }, /everyMs/],
    ['without an expression', { id: 'x', schedule: { kind: 'cron' }, payload: turn }, /schedule.expr is missing/],
    [
      'that starts a program',
      { id: 'x', schedule: daily, payload: { kind: 'command', command: 'ls' } },
      /does not start an agent/,
    ],
    ['with nothing to do', { id: 'x', schedule: daily, payload: { kind: 'agentTurn' } }, /payload.message is missing/],
    ['in no session', { id: 'x', schedule: daily, sessionTarget: 'nowhere', payload: turn }, /sessionTarget nowhere/],
  ])('%s is refused', (_, job, why) => {
    expect(jobOf(job as object)).toMatchObject({ refused: expect.stringMatching(why) as string })
  })
})

describe('a file', () => {
  it('may be a bare list, and is none without one', () => {
    expect(parseClawJobs('[]')).toEqual([])
    expect(parseClawJobs('{"version":1,"jobs":[]}')).toEqual([])
    expect(parseClawJobs('{"jobs":5}')).toMatch(/has no list of jobs/)
    expect(parseClawJobs('{')).toMatch(/is not JSON/)
  })
})

describe('a job of GoClaw', () => {
  const go = { id: 'g1', name: 'Queue', schedule: { kind: 'cron', expr: '0 * * * *' } }
  const payload = { kind: 'agent_turn', message: 'Is it growing?' }

  it.each([
    [{}, 'isolated'],
    [{ stateless: true }, 'isolated'],
    [{ stateless: false }, 'main'],
  ])('%j runs in its session, exact at the top of the hour: %s', (said, session) => {
    const fields = { cron: '0 * * * *', payload: { prompt: 'Is it growing?' }, session }
    expect(jobOf({ ...go, payload, ...said })).toMatchObject({ fields, notes: [], delivery: null })
  })

  it('says where its results went', () => {
    const said = { deliver: true, deliverChannel: 'telegram', deliverTo: '12345' }
    expect(jobOf({ ...go, payload, ...said })).toMatchObject({ delivery: { place: 'telegram 12345' } })
    expect(jobOf({ ...go, payload, ...said, deliver: false })).toMatchObject({ delivery: null })
  })
})
