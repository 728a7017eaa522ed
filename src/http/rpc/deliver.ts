import type { CreateParams, PatchParams } from '../../contract/rpc/params.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { noDelivery } from '../../service/rails/references.ts'
import { targetForPlace } from '../../service/target/chat-target.ts'
import { requirePermission } from '../gate.ts'
import type { RpcCall } from './call.ts'

const given = (text: string | null | undefined): string | undefined => text || undefined

/** The delivery that a job asks for: to a chat of a channel, or to a target. Nothing: as it is. */
export async function deliveryIn(
  { ctx, caller, principal }: Pick<RpcCall<unknown>, 'ctx' | 'caller' | 'principal'>,
  job: CreateParams | PatchParams,
): Promise<Pick<ScheduleInput, 'delivery'>> {
  const place = { channel: given(job.deliverChannel), to: given(job.deliverTo) }
  if (job.deliver === false) return { delivery: null }
  const isAsked = job.deliver === true || place.channel !== undefined || place.to !== undefined
  if (!isAsked) return {}
  if (principal.railed !== undefined) throw noDelivery()
  const mayCreate = (): void => {
    requirePermission({ ctx, principal }, 'targets:write')
  }
  return { delivery: { target_id: await targetForPlace(ctx.ports, caller, { place, mayCreate }) } }
}
