import { expect } from 'vitest'
import { json, startPeer } from '../../platform/outbound/peer.ts'
import { eventually } from '../../scenarios/support.ts'
import { createSchedule, NEVER, onceAlone, runNow } from '../experiment.ts'
import type { Row } from '../row.ts'
import { failed, planned, states, summarized } from './experiments.ts'

/** A run whose result goes to a webhook. */
const delivered = onceAlone(async (servers) => {
  const receiver = await startPeer((_, response) => json(response, 200, {}))
  try {
    const node = await servers.start({
      ...{ agents: { worker: () => 'done' }, outbound: { allow_hosts: [`127.0.0.1:${receiver.port}`] } },
    })
    const { id: target_id } = await node.client.targets.create({ name: 'Hook', url: `${receiver.url}/in` })
    const { id } = await node.schedules.create({ ...NEVER, agent_id: 'worker', delivery: { target_id } })
    const { run_id: runId } = await node.schedules.runNow(id)
    await eventually(() => expect(receiver.heard).toHaveLength(1))
    const { body, headers } = receiver.heard[0] ?? expect.fail()
    return { runId, headers, data: (JSON.parse(body) as { readonly data: unknown }).data }
  } finally {
    await receiver.close()
  }
})

/** The fields of `schedule_runs`, and where results are delivered: lines 73 to 83. */
export const RUN_FIELDS: readonly Row[] = [
  {
    line: '73',
    says: 'A run has an `id`.',
    differs: 'Ids are not UUIDs: they say what they belong to (`run_…`), because people read them (D10).',
    check: async (world) => expect((await planned(world)).run.id).toMatch(/^run_/),
  },
  {
    line: '73',
    says: 'A run has a `schedule_id`.',
    check: async (world) => {
      const { created, run } = await planned(world)
      expect(run.schedule_id).toBe(created.id)
    },
  },
  {
    line: '74',
    says: 'A `job_run_id` is unique.',
    check: async (world) => {
      const { id } = await createSchedule(world, { ...NEVER, agent_id: (await world.agent()).id })
      for (let count = 0; count < 3; count += 1) await world.ended(await runNow(world, id))
      const runs = await world.runsOf(id, ({ length }) => length === 3)
      expect(new Set(runs.map(({ job_run_id }) => job_run_id)).size).toBe(3)
      // Another run for what one of these ids stands for is refused by the database itself.
      const { run } = await planned(world)
      const again = `insert into escapement.occurrence (org_id, schedule_id, nominal_at, kind, discriminator, run_id)
        select org_id, schedule_id, nominal_at, kind, discriminator, 'run_again' from escapement.occurrence where run_id = $1`
      for (const one of [run.id, runs[0]?.id ?? ''])
        await expect(world.database.outside(again, [one])).rejects.toMatchObject({ code: '23505' })
    },
  },
  {
    line: '75',
    says: 'A run can be `queued`.',
    check: async (world) => expect((await states(world))[1]).toBe('queued'),
  },
  {
    line: '75',
    says: 'A run can be `running`.',
    check: async (world) => expect((await states(world))[0]).toBe('running'),
  },
  {
    line: '75',
    says: 'A run can end as `success`.',
    check: async (world) => expect((await planned(world)).run.status).toBe('success'),
  },
  {
    line: '75',
    says: 'A run can end as `failed`.',
    check: async (world) => expect((await failed(world)).run.status).toBe('failed'),
  },
  {
    line: '75',
    says: 'A run can end as `timeout`.',
    check: async (world) => expect((await states(world))[3]).toBe('timeout'),
  },
  {
    line: '75',
    says: 'A run can end as `cancelled`.',
    check: async (world) => expect((await states(world))[2]).toBe('cancelled'),
  },
  {
    line: '76',
    says: '`started_at` is the start of the first attempt.',
    check: async (world) => {
      const { run } = await failed(world)
      expect(run.attempts).toHaveLength(3)
      expect(run.started_at).toBe(run.attempts[0]?.started_at)
    },
  },
  {
    line: '76',
    says: 'A run has a `finished_at`.',
    check: async (world) => {
      const { run } = await failed(world)
      expect(run.finished_at).toBe(run.attempts[2]?.finished_at)
    },
  },
  {
    line: '76',
    says: '`duration_ms` covers the whole run, waits included.',
    check: async (world) => {
      const { run } = await failed(world)
      expect(run.duration_ms).toBe(Date.parse(run.finished_at ?? '') - Date.parse(run.started_at ?? ''))
      expect(run.duration_ms).toBeGreaterThanOrEqual(800)
    },
  },
  {
    line: '77',
    says: 'A run has an `attempt`.',
    check: async (world) => expect((await failed(world)).run.attempt).toBe(3),
  },
  {
    line: '77',
    says: 'A run has an `error_code`.',
    differs:
      'It comes from one closed table, so that programs can rely on it; the code of the runtime is kept beside it as `agent_error_code`.',
    check: async (world) => {
      const { run } = await failed(world)
      expect(run).toMatchObject({ error_code: 'agent_error', agent_error_code: 'MODEL_QUOTA' })
    },
  },
  {
    line: '77',
    says: 'A run has an `error_message`.',
    check: async (world) => expect((await failed(world)).run.error_message).toBe('the quota is used up'),
  },
  {
    line: '78',
    says: 'A run keeps the `session_id` that the runtime reported.',
    check: async (world) => expect((await planned(world)).run).toMatchObject({ session_id: 'sess-abc' }),
  },
  {
    line: '78',
    says: 'A run keeps the `message_id` that the runtime reported.',
    check: async (world) => expect((await planned(world)).run).toMatchObject({ message_id: 'msg-xyz' }),
  },
  {
    line: '79',
    says: '`result_summary` is JSON.',
    check: async (world) => expect(await summarized(world)).toMatchObject({ result_summary: { pages: 3 } }),
  },
  {
    line: '80',
    says: 'A run has a `created_at`.',
    check: async (world) => {
      const { created, run } = await planned(world)
      expect(Date.parse(run.created_at)).toBeGreaterThanOrEqual(Date.parse(created.created_at))
    },
  },
  {
    line: '82',
    says: 'Results are delivered to a webhook.',
    check: async (world) => {
      const { runId, headers, data } = await delivered(world)
      expect(data).toMatchObject({ id: runId, status: 'success', output: 'done' })
      expect(headers['webhook-signature']).toMatch(/^v1,/)
    },
  },
  {
    line: '83',
    says: 'Results are delivered to Slack.',
    shownBy: [
      'test/plane/slack.test.ts',
      'an app of Slack › is a place that results of schedules go to, as are incoming webhooks and conversations',
    ],
  },
  {
    line: '83',
    says: 'Results are delivered by e-mail.',
    shownBy: [
      'test/plane/email.test.ts',
      'mail › goes through a server that fails and then recovers, under one Message-ID',
    ],
  },
]
