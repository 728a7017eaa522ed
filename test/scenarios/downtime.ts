import type { ScheduleInput } from '../../src/features/schedules/schema.ts'
import type { Escapement } from '../../src/library/escapement.ts'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import type { TestDatabase } from '../support/database.ts'

/** Where nodes can be started and left. */
export interface Place {
  readonly database: Pick<TestDatabase, 'outside'>
  readonly start: (options: {
    readonly agents: Readonly<Record<string, Handler>>
  }) => Promise<Pick<Escapement, 'schedules'> & { readonly stop: () => Promise<void> }>
}

export const SECOND = 1_000
export const MINUTE = 60 * SECOND

/** Makes schedules while nobody is there afterwards: what is due meanwhile is seen by whoever starts next. */
export async function makeAndLeave(world: Place, inputs: readonly ScheduleInput[]): Promise<readonly string[]> {
  const node = await world.start({ agents: { worker: () => 'before' } })
  const made = await Promise.all(inputs.map((input) => node.schedules.create({ agent_id: 'worker', ...input })))
  await node.stop()
  return made.map((schedule) => schedule.id)
}

/** What a long downtime leaves behind: nothing after this moment has been decided. */
export async function setBack(world: Place, id: string, watermark: number): Promise<void> {
  const at = new Date(watermark).toISOString()
  await world.database.outside(
    `update escapement.schedule set watermark = $2::timestamptz, next_run_at = $2::timestamptz + interval '1 ms'
     where id = $1`,
    [id, at],
  )
}

/**
 * Makes schedules of every second that have missed exactly `count` seconds, the newest of them some seconds ago. They
 * come again next year, so that nothing is added to them while the test looks.
 */
export async function missSeconds(
  world: Place,
  count: number,
  inputs: readonly ScheduleInput[],
): Promise<{ readonly ids: readonly string[]; readonly moments: readonly number[] }> {
  const second = Math.floor(Date.now() / SECOND) * SECOND - SECOND
  // All of them inside one minute, so that one expression says them.
  const last = new Date(second).getUTCSeconds() >= count - 1 ? second : Math.floor(second / MINUTE) * MINUTE - SECOND
  const first = last - (count - 1) * SECOND
  const at = new Date(last)
  const day = `${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`
  const cron = `${new Date(first).getUTCSeconds()}-${at.getUTCSeconds()} ${day}`
  const ids = await makeAndLeave(
    world,
    inputs.map((input) => ({ cron, timezone: 'UTC', ...input })),
  )
  for (const id of ids) await setBack(world, id, first - SECOND)
  return { ids, moments: Array.from({ length: count }, (_, index) => first + index * SECOND) }
}
