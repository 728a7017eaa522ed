import { Refusal } from '../api/refusals.ts'
import type { BulkAnswer, BulkInput } from '../contract/schedule-bulk.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'
import { deleteSchedule, disableSchedule, enableSchedule } from './schedules.ts'

type Outcome = BulkAnswer['items'][number]

/** Does one thing to many schedules. Each is decided by itself: one that cannot be done does not stop the others. */
export async function changeSchedules(ports: Ports, caller: Caller, input: BulkInput): Promise<BulkAnswer> {
  // Handed in together, they share a turn. Named twice, it is done once and told twice.
  const ids = [...new Set(input.ids)]
  const outcomes = new Map(
    await Promise.all(
      ids.map(async (id) => [id, await changeOne(ports, caller, { id, action: input.action })] as const),
    ),
  )
  const items = input.ids.flatMap((id) => outcomes.get(id) ?? [])
  const done = items.filter(({ ok }) => ok).length
  return { items, done, refused: items.length - done }
}

async function changeOne(
  ports: Ports,
  caller: Caller,
  { id, action }: { readonly id: string; readonly action: BulkInput['action'] },
): Promise<Outcome> {
  try {
    if (action === 'delete') {
      await deleteSchedule(ports, caller, { id })
      return { id, ok: true }
    }
    const change = action === 'enable' ? enableSchedule : disableSchedule
    return { id, ok: true, state: (await change(ports, caller, { id })).state }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { id, ok: false, code: error.code, message: error.message }
  }
}
