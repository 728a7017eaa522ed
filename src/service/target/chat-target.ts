import { schemaReader } from '../../api/read-input.ts'
import { invalid } from '../../api/refusals.ts'
import { targetInput, type TargetInput } from '../../features/targets/schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import { listChannels, loadChannelNamed, type ChannelRow } from '../../features/channels/store.ts'
import { listTargets } from '../../store/targets.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import type { Preceding } from '../preceded.ts'
import { targetCreation } from './targets.ts'

/** Where a result is to go, as clients of messengers say it: a chat of a channel, or a target by its id or name. */
export interface ChatPlace {
  readonly channel: string | undefined
  readonly to: string | undefined
}

/** An org has a handful. */
const MOST_LISTED = 200

/** The fields of settings that name a chat, for each kind of channel that can send. */
const CHAT_FIELD = { telegram: 'chat_id', slack: 'to' } as const

/** The target for a place: one that is there, or one that `creation` creates. */
export interface TargetOfPlace {
  readonly id: string
  readonly creation: Preceding | null
}

/**
 * The target for a place. A chat that has no target yet gets one, where `mayCreate` does not refuse; it may be called
 * although nothing is created.
 */
export async function targetForPlace(
  ports: Ports,
  caller: Caller,
  { place, mayCreate }: { readonly place: ChatPlace; readonly mayCreate: () => void },
): Promise<TargetOfPlace> {
  const { orgId } = caller
  const targets = await listTargets(ports.database, { orgId, after: null, limit: MOST_LISTED })
  if (place.channel === undefined) {
    const named = targets.find(({ id, name }) => id === place.to || name === place.to)
    if (named === undefined) throw noPlace('deliverTo', place.to)
    return { id: named.id, creation: null }
  }
  const channel = await channelCalled(ports, orgId, place.channel)
  const to = place.to ?? channel.settings.default_recipient ?? undefined
  if (to === undefined) throw noPlace('deliverTo', undefined)
  const input = inputFor(channel, to)
  const { settings = {} } = input
  const known = targets.find(
    (one) =>
      one.kind === input.kind &&
      Object.entries(settings).every(([name, value]) => String(one.settings[name]) === String(value)),
  )
  if (known !== undefined) return { id: known.id, creation: null }
  mayCreate()
  const id = ports.newId('target', ports.clock.now())
  return { id, creation: await targetCreation(ports, caller, { input, id }) }
}

/** The channel of a name, or the only one of a kind: clients of GoClaw write `telegram`. */
async function channelCalled({ database }: Ports, orgId: OrgId, name: string): Promise<ChannelRow> {
  const named = await loadChannelNamed(database, { orgId, name })
  if (named !== undefined) return named
  const all = await listChannels(database, { orgId, after: null, limit: MOST_LISTED })
  const [only, ...more] = all.filter(({ kind }) => kind === name)
  if (only !== undefined && more.length === 0) return only
  throw invalid([
    {
      ...{ field: 'deliverChannel', value: name, message: 'names no channel of the org' },
      allowed: all.length === 0 ? 'create a channel first' : all.map((channel) => channel.name).join(', '),
    },
  ])
}

function inputFor({ name, kind }: ChannelRow, to: string): TargetInput {
  if (kind !== 'telegram' && kind !== 'slack')
    throw invalid([{ field: 'deliverChannel', value: name, message: `is of kind ${kind}, which cannot send` }])
  const settings = { channel: name, [CHAT_FIELD[kind]]: to }
  return schemaReader(targetInput)({ name: `${name} ${to}`.slice(0, 200), kind, settings })
}

const noPlace = (field: string, value: string | undefined) =>
  invalid([
    {
      ...{ field, value, message: value === undefined ? 'is missing' : 'names no target of the org' },
      allowed: 'the id of a chat together with deliverChannel, or the id or name of a target',
    },
  ])
