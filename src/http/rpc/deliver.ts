import type { CreateParams, PatchParams } from '../../contract/rpc/params.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { noDelivery } from '../../service/rails/references.ts'
import { targetForPlace, type TargetOfPlace } from '../../service/target/chat-target.ts'
import { requirePermission } from '../../operations/admit.ts'
import type { RpcCall } from './call.ts'

const given = (text: string | null | undefined): string | undefined => text || undefined

/** The delivery that a job asks for, and what creates its target where there is none yet. */
interface DeliveryOfJob {
  readonly delivery: Pick<ScheduleInput, 'delivery'>
  readonly target: TargetOfPlace['creation']
}

/** Where the results of a job go: to a chat of a channel, or to a target. Nothing: as it is. */
export async function deliveryIn(
  { ctx, caller, principal }: Pick<RpcCall<unknown>, 'ctx' | 'caller' | 'principal'>,
  job: CreateParams | PatchParams,
): Promise<DeliveryOfJob> {
  const place = { channel: given(job.deliverChannel), to: given(job.deliverTo) }
  if (job.deliver === false) return { delivery: { delivery: null }, target: null }
  const isAsked = job.deliver === true || place.channel !== undefined || place.to !== undefined
  if (!isAsked) return { delivery: {}, target: null }
  if (principal.railed !== undefined) throw noDelivery()
  const mayCreate = (): void => {
    requirePermission({ ctx, principal }, 'targets:write')
  }
  const { id, creation } = await targetForPlace(ctx.ports, caller, { place, mayCreate })
  return { delivery: { delivery: { target_id: id } }, target: creation }
}
