import { expect } from 'vitest'
import type { AlertView } from '../../../src/features/alerts/schema.ts'
import { createStage } from '../../scenarios/stage.ts'
import { ended, eventually } from '../../scenarios/support.ts'
import { createSchedule, NEVER, once, onceAlone, runNow, scrape } from '../experiment.ts'
import type { Row } from '../row.ts'

/** On a server of its own: one run that succeeds, one that fails, one that takes too long, and what is counted. */
const counted = onceAlone(async (servers) => {
  const stage = createStage({
    then: ({ label }) => {
      if (label === 'fails') throw new Error('as asked')
      return 'works'
    },
  })
  stage.release('works', 'fails')
  const node = await servers.start({ agents: { worker: stage.handler } })
  const retry_policy = { max_retries: 1, strategy: 'fixed', base_ms: 500, jitter: 0 } as const
  const never = { max_retries: 0 }
  const limits = { works: {}, fails: { retry_policy }, 'takes too long': { retry_policy: never, timeout_seconds: 1 } }
  for (const [payload, limit] of Object.entries(limits)) {
    const { id } = await node.schedules.create({ ...NEVER, agent_id: 'worker', payload, ...limit })
    await ended(node, (await node.schedules.runNow(id)).run_id ?? '')
  }
  await node.schedules.create({ ...NEVER, agent_id: 'worker', enabled: false })
  const stats = await eventually(async () => {
    const seen = await node.client.stats.get()
    expect(seen.runs.ended).toBe(3)
    return seen
  })
  const { items } = await node.runs.list({})
  return { metrics: await scrape(node), stats, durations: items.map(({ duration_ms }) => duration_ms ?? 0) }
})

/** The actions that the audit has for the whole life of one schedule, oldest first. */
const audited = once(async (world) => {
  const agent = await world.agent({ retry_policy: { max_retries: 0 } })
  agent.reply({ status: 'failed', error_message: 'as asked' })
  const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id })
  await world.patch(`/api/v1/schedules/${id}`, { description: 'changed' })
  await world.post(`/api/v1/schedules/${id}/disable`)
  await world.post(`/api/v1/schedules/${id}/enable`)
  const runId = await runNow(world, id)
  await world.ended(runId)
  await world.post(`/api/v1/schedule-runs/${runId}/retry`)
  await world.del(`/api/v1/schedules/${id}`)
  const { body } = await world.get('/api/v1/audit?limit=200')
  const items = body['items'] as readonly { readonly action: string }[]
  return items
    .filter((item) => [id, runId].some((one) => JSON.stringify(item).includes(one)))
    .map(({ action }) => action)
})

const isAudited =
  (...words: readonly RegExp[]): NonNullable<Row['check']> =>
  async (world) => {
    const actions = await audited(world)
    for (const word of words) expect(actions.filter((action) => word.test(action)).length).toBeGreaterThan(0)
  }

/** Metrics, audit, alerts, phases and what is not aimed at: lines 183 to 218. */
export const WATCHING: readonly Row[] = [
  {
    line: '183',
    says: 'There is a metric of schedules and of enabled ones.',
    check: async (world) => {
      const { metrics } = await counted(world)
      expect(metrics.by('escapement_schedules', 'state')).toMatchObject({ active: 3, paused: 1 })
    },
  },
  {
    line: '184',
    says: 'There is a metric of triggers, of which a rate per minute is made.',
    check: async (world) => {
      const { metrics } = await counted(world)
      expect(metrics.by('escapement_triggers_total', 'trigger')).toMatchObject({ manual: 3 })
    },
  },
  {
    line: '185',
    says: 'The shares of success, failed and timeout are shown.',
    check: async (world) => {
      const { share } = (await counted(world)).stats.runs
      for (const part of [share?.success, share?.failed, share?.timeout]) expect(part).toBeCloseTo(1 / 3, 3)
    },
  },
  {
    line: '186',
    says: 'The P95 of the duration is shown, of whole runs.',
    check: async (world) => {
      const { stats, durations } = await counted(world)
      expect(durations.toSorted((a, b) => a - b)[1]).toBeGreaterThanOrEqual(500)
      expect(stats.runs.duration_ms?.p95).toBeGreaterThanOrEqual(900)
    },
  },
  { line: '188', says: 'Creating a schedule is audited.', check: isAudited(/^schedule\.create/) },
  { line: '188', says: 'Changing a schedule is audited.', check: isAudited(/^schedule\.(?:update|change)/) },
  {
    line: '188',
    says: 'Enabling and disabling a schedule is audited.',
    check: isAudited(/^schedule\.enable/, /^schedule\.disable/),
  },
  { line: '188', says: 'Deleting a schedule is audited.', check: isAudited(/^schedule\.delete/) },
  { line: '189', says: 'Run-now is audited.', check: isAudited(/run[_-]now/) },
  { line: '189', says: 'A retry is audited.', check: isAudited(/^run\.retry/) },
  {
    line: '191',
    says: 'A number of failures in a row raises an alert.',
    check: async (world) => {
      const agent = await world.agent({ retry_policy: { max_retries: 0 } })
      agent.reply({ status: 'failed', error_message: 'as asked' })
      const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, alert_after: 2 })
      const alerts = async (): Promise<readonly AlertView[]> =>
        (await world.server.client.alerts.list({ subject_id: id })).items
      await world.ended(await runNow(world, id))
      expect(await alerts()).toEqual([])
      await world.ended(await runNow(world, id))
      expect(await world.until(async () => ((await alerts()).length > 0 ? alerts() : false))).toMatchObject([
        { kind: 'failures_in_a_row', status: 'open', why: { evidence: { streak: 2, alert_after: 2 } } },
      ])
    },
  },
  {
    line: '192',
    says: 'A scheduler that stands still raises an alert.',
    shownBy: [
      'test/plane/alerts.test.ts',
      '40: an engine that stands still › because of a lock raises one alert, sends it meanwhile, is not ready, and clears',
    ],
  },
  {
    line: '200',
    says: 'Phase 1: tables, scan and trigger, API, and a page with list, create, switch and logs.',
    shownBy: [
      'test/e2e/schedules.test.ts',
      'schedules in depth › makes a schedule with a preview, watches it run, says why, and switches it off',
    ],
  },
  {
    line: '206',
    says: 'Phase 2: the shortcut in the conversation, run-now, retry, and reasons of failures.',
    check: async (world) => {
      const agent = await world.agent({ retry_policy: { max_retries: 0 } })
      const { body: sent } = await world.post(`/api/v1/sessions/${agent.session()}/messages`, {
        ...{ text: 'Write the report', debounce_ms: 0 },
      })
      await world.ended(String(sent['run_id']))
      const { body: draft } = await world.post(`/api/v1/runs/${String(sent['run_id'])}/schedule`)
      expect(draft).toMatchObject({ agent_id: agent.id, payload: { prompt: 'Write the report' } })
      const { id } = await createSchedule(world, { ...draft, ...NEVER })
      agent.reply({ status: 'failed', error_message: 'the disk is full' })
      const runId = await runNow(world, id)
      await world.ended(runId)
      expect(await world.server.runs.explain(runId)).toMatchObject({ reason: expect.any(String) as string })
      const again = await world.post(`/api/v1/schedule-runs/${runId}/retry`)
      expect(await world.ended(String(again.body['id']))).toMatchObject({ error_message: 'the disk is full' })
    },
  },
  {
    line: '211',
    says: 'Phase 3: results go to webhooks and Slack.',
    shownBy: [
      'test/plane/slack.test.ts',
      'an app of Slack › is a place that results of schedules go to, as are incoming webhooks and conversations',
    ],
  },
  {
    line: '212',
    says: 'Phase 3: quotas bound schedules and runs.',
    check: (world) =>
      world.alone(async (servers) => {
        const node = await servers.start({ agents: { worker: () => 'done' } })
        await node.client.orgs.update('default', { max_schedules: 1, runs_per_day: 1 })
        const { id } = await node.schedules.create({ ...NEVER, agent_id: 'worker' })
        const more = await node.raw('POST', '/api/v1/schedules', { body: NEVER })
        expect(more.status).toBe(409)
        const told = [1, 2].map(() => node.raw('POST', `/api/v1/schedules/${id}/run-now`))
        const statuses = (await Promise.all(told)).map(({ status }) => status)
        expect(statuses.toSorted()).toEqual([202, 429])
      }),
  },
  {
    line: '218',
    says: 'The execution plane keeps no schedule state.',
    check: async (world) => {
      const agent = await world.agent()
      const { id } = await createSchedule(world, { every_seconds: 1, agent_id: agent.id })
      await world.until(() => agent.dispatches.length > 0)
      await world.post(`/api/v1/schedules/${id}/disable`)
      await world.until(async () => {
        const { items } = await world.server.schedules.runs(id, { status: 'success', limit: 200 })
        const told = agent.dispatches.map(({ run_id }) => run_id)
        expect(told.toSorted()).toEqual(items.map((run) => run.id).toSorted())
      })
    },
  },
]
