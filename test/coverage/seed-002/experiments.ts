import type { RunView } from '../../../src/features/runs/schema.ts'
import type { Dispatch } from '../../../src/executors/dispatch.ts'
import { createSchedule, NEVER, inState, once, runNow, scheduleOf, scheduleRunOf } from '../experiment.ts'

export const PAYLOAD = { prompt: 'Write the report', context: { team: 'data' }, output: 'one page' }

/** A schedule with every default fires once; the runtime answers with everything that the protocol has. */
export const planned = once(async (world) => {
  const agent = await world.agent()
  agent.reply(({ job_run_id }: Dispatch) => ({
    ...{ job_run_id, status: 'success', session_id: 'sess-abc', message_id: 'msg-xyz', output: 'the report' },
  }))
  const created = await createSchedule(world, {
    ...{ agent_id: agent.id, description: 'As planned', schedule_type: 'interval', interval_seconds: 1, max_fires: 1 },
    payload: PAYLOAD,
  })
  // What a busy machine has come too late for is skipped, and does not count as a firing.
  const succeeded = (run: RunView): boolean => run.status === 'success'
  const first = (await world.runsOf(created.id, (runs) => runs.some(succeeded))).find(succeeded)
  const run = await scheduleRunOf(world, first?.id ?? '')
  const [dispatch] = agent.dispatches
  return { agent: agent.id, created, dispatch, run, after: await scheduleOf(world, created.id) }
})

/** The runtime reports a failure with a code of its own, three times. */
export const failed = once(async (world) => {
  const agent = await world.agent()
  agent.reply({ status: 'failed', error_code: 'MODEL_QUOTA', error_message: 'the quota is used up' })
  const retry_policy = { max_retries: 2, strategy: 'fixed', base_ms: 400, jitter: 0 }
  const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, retry_policy })
  const runId = await runNow(world, id)
  await world.ended(runId)
  const { dispatches } = agent
  return { id, dispatches, run: await scheduleRunOf(world, runId), after: await scheduleOf(world, id) }
})

/** Three runs of one schedule: one runs, one waits and is cancelled; one takes longer than its time. */
export const states = once(async (world) => {
  const agent = await world.agent()
  agent.hold()
  const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, retry_policy: { max_retries: 0 } })
  const running = await runNow(world, id)
  const waiting = await runNow(world, id)
  const seen: RunView[] = [await inState(world, running, 'running'), await inState(world, waiting, 'queued')]
  await world.post(`/api/v1/runs/${waiting}/cancel`)
  seen.push(await world.ended(waiting))
  await world.patch(`/api/v1/schedules/${id}`, { timeout_seconds: 1 })
  await world.post(`/api/v1/runs/${running}/cancel`)
  await world.ended(running)
  const late = await runNow(world, id)
  seen.push(await world.ended(late))
  return seen.map(({ status }) => status)
})

/** The runtime sums its result up in JSON. */
export const summarized = once(async (world) => {
  const agent = await world.agent({ retry_policy: { max_retries: 0 } })
  agent.reply({ status: 'success', output: 'the report', summary: { pages: 3 } })
  const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id })
  const runId = await runNow(world, id)
  await world.ended(runId)
  return scheduleRunOf(world, runId)
})
