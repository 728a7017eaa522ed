import { schemaReader } from '../../api/read-input.ts'
import { invalid } from '../../api/refusals.ts'
import { targetInput, type TargetInput } from './schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import { listChannels, loadChannelNamed, type ChannelRow } from '../channels/store.ts'
import { listTargets } from './store.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'
import type { PrecedingCommand } from '../../engine/commands-port.ts'
import { createTargetCommand } from './service.ts'

/** The destination of a result: a chat of a channel, or a target by its id or name. */
export interface ResultDestination {
  readonly channel: string | undefined
  readonly to: string | undefined
}

/** More targets or channels than an org has in practice. */
const MAX_SEARCHED = 200

/** The fields of settings that name a chat, for each kind of channel that can send. */
const CHAT_FIELD = { telegram: 'chat_id', slack: 'to' } as const

/** The target of a destination. It exists already, or `creation` creates it. */
export interface TargetOfDestination {
  readonly id: string
  readonly creation: PrecedingCommand | null
}

/** Finds the target of a destination. For a chat without one it calls `mayCreate`, which may throw, and creates it. */
export async function targetForDestination(
  ports: Ports,
  caller: Caller,
  { place: destination, mayCreate }: { readonly place: ResultDestination; readonly mayCreate: () => void },
): Promise<TargetOfDestination> {
  const { orgId } = caller
  const targets = await listTargets(ports.database, { orgId, after: null, limit: MAX_SEARCHED })
  if (destination.channel === undefined) {
    const namedTarget = targets.find(({ id, name }) => id === destination.to || name === destination.to)
    if (namedTarget === undefined) throw destinationRefusal('deliverTo', destination.to)
    return { id: namedTarget.id, creation: null }
  }
  const channel = await findChannelByNameOrKind(ports, orgId, destination.channel)
  const to = destination.to ?? channel.settings.default_recipient ?? undefined
  if (to === undefined) throw destinationRefusal('deliverTo', undefined)
  const input = chatTargetInput(channel, to)
  const { settings = {} } = input
  const existing = targets.find(
    (one) =>
      one.kind === input.kind &&
      Object.entries(settings).every(([name, value]) => String(one.settings[name]) === String(value)),
  )
  if (existing !== undefined) return { id: existing.id, creation: null }
  mayCreate()
  const id = ports.newId('target', ports.clock.now())
  return { id, creation: await createTargetCommand(ports, caller, { input, id }) }
}

/** The channel with this name, or the only channel of this kind: GoClaw clients send `telegram`. */
async function findChannelByNameOrKind({ database }: Ports, orgId: OrgId, name: string): Promise<ChannelRow> {
  const namedTarget = await loadChannelNamed(database, { orgId, name })
  if (namedTarget !== undefined) return namedTarget
  const all = await listChannels(database, { orgId, after: null, limit: MAX_SEARCHED })
  const [only, ...more] = all.filter(({ kind }) => kind === name)
  if (only !== undefined && more.length === 0) return only
  throw invalid([
    {
      ...{ field: 'deliverChannel', value: name, message: 'is not a channel of the org' },
      allowed: all.length === 0 ? 'create a channel first' : all.map((channel) => channel.name).join(', '),
    },
  ])
}

function chatTargetInput({ name, kind }: ChannelRow, to: string): TargetInput {
  if (kind !== 'telegram' && kind !== 'slack')
    throw invalid([
      { field: 'deliverChannel', value: name, message: `is a channel of kind ${kind}, which cannot send` },
    ])
  const settings = { channel: name, [CHAT_FIELD[kind]]: to }
  return schemaReader(targetInput)({ name: `${name} ${to}`.slice(0, 200), kind, settings })
}

const destinationRefusal = (field: string, value: string | undefined) =>
  invalid([
    {
      ...{ field, value, message: value === undefined ? 'is missing' : 'is not a target of the org' },
      allowed: 'a chat id together with deliverChannel, or the id or name of a target',
    },
  ])
