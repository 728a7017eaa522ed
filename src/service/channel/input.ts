import { addAll } from '../../core/long-lists.ts'
import { CHANNEL_KINDS, type ChannelKind } from '../../core/channel/channel.ts'
import {
  parseChannelSettings,
  SECRETS_OF,
  SETTINGS_OF,
  type ChannelSettings,
} from '../../core/channel/channel-settings.ts'
import type { ChannelCredentials } from '../../core/channel/services.ts'
import { agentId, type AgentId } from '../../core/ids.ts'
import { flawed, parsed, parseWord, type Flaw, type Parsed } from '../../core/input.ts'
import type { ChannelRow } from '../../store/channels.ts'
import { collectFlaws, parseFlag, parseObject, textField, unknownFields, type Given } from '../../core/input-fields.ts'

/** What a person decides about a channel. Secrets are those that were given, not those that are kept. */
export interface ReadChannel {
  readonly name: string
  readonly kind: ChannelKind
  readonly agentId: AgentId
  readonly enabled: boolean
  readonly settings: ChannelSettings
  readonly credentials: ChannelCredentials
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,59}$/

function parseName(field: string, value: unknown): Parsed<string> {
  const allowed = 'up to 60 lower case letters, digits, - and _; other than last and none'
  return typeof value === 'string' && NAME.test(value) && value !== 'last' && value !== 'none'
    ? parsed(value)
    : flawed({ field, value, message: 'is not a name of a channel', allowed })
}

/** Reads a new channel, or a change of one: what a change leaves out stays. */
export function parseChannel(value: unknown, existing: ChannelRow | null): Parsed<ReadChannel> {
  const object = parseObject('channel', value)
  if (!object.ok) return object
  const given = object.value
  const kind = existing === null ? parseWord('kind', given['kind'], CHANNEL_KINDS) : parsed(existing.kind)
  // What else there may be depends on the kind.
  if (!kind.ok) return kind
  const { flaws, keep } = collectFlaws()
  addAll(flaws, [...fixed(given, existing), ...unknownFields('', given, known(kind.value))])
  const field = <T>(
    name: string,
    parse: (field: string, value: unknown) => Parsed<T>,
    otherwise: T | null,
  ): T | null => {
    if (given[name] !== undefined) return keep(parse(name, given[name]))
    if (otherwise === null) flaws.push({ field: name, value: undefined, message: 'is missing' })
    return otherwise
  }
  const name = existing === null ? field('name', parseName, null) : existing.name
  const agent = field('agent_id', textField({ min: 1, max: 512 }), existing?.agentId ?? null)
  const enabled = field('enabled', parseFlag, existing?.enabled ?? true)
  const settings = keep(parseChannelSettings(kind.value, given, existing?.settings ?? null))
  const credentials = keep(parseSecrets(kind.value, given, existing === null))
  if (
    flaws.length > 0 ||
    name === null ||
    agent === null ||
    enabled === null ||
    settings === null ||
    credentials === null
  )
    return flawed(flaws)
  return parsed({ name, kind: kind.value, agentId: agentId(agent), enabled, settings, credentials })
}

const EVERY_SETTING = [...new Set(Object.values(SETTINGS_OF).flat())]

/** Settings of other kinds are told by whoever reads settings. */
const known = (kind: ChannelKind): readonly string[] => [
  ...['name', 'kind', 'agent_id', 'enabled', ...SECRETS_OF[kind], ...EVERY_SETTING],
]

const fixed = (given: Given, existing: ChannelRow | null): readonly Flaw[] =>
  existing === null
    ? []
    : ['name', 'kind']
        .filter((name) => given[name] !== undefined)
        .map((name) => ({ field: name, value: given[name], message: 'never changes', allowed: 'a channel of its own' }))

const SECRET_SHAPES: Readonly<Record<string, { readonly shape: RegExp; readonly allowed: string }>> = {
  'telegram.token': { shape: /^\d+:[\w-]+$/, allowed: 'the token that BotFather gave, such as 4711:AAH…' },
  'slack.token': { shape: /^xox[a-z]-[\w-]+$/, allowed: 'the bot token of the app, xoxb-…' },
  'slack.signing_secret': { shape: /^[\x21-\x7e]{8,200}$/, allowed: 'the signing secret of the app' },
  'hook.signing_secret': {
    shape: /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/,
    allowed: 'whsec_ and at least 24 random bytes in base64: openssl rand -base64 32',
  },
}

function parseSecrets(kind: ChannelKind, given: Given, isNew: boolean): Parsed<ChannelCredentials> {
  const read: Record<string, string> = {}
  const flaws: Flaw[] = []
  for (const name of SECRETS_OF[kind]) {
    const value = given[name]
    const rule = SECRET_SHAPES[`${kind}.${name}`]
    if (value === undefined && !isNew) continue
    if (value === undefined)
      flaws.push({ field: name, value, message: 'is missing', allowed: rule?.allowed ?? 'a text' })
    else if (typeof value === 'string' && rule?.shape.test(value) === true) read[name] = value
    // What may be a secret, only wrong, is not repeated.
    else flaws.push({ field: name, value: '***', message: `is not one of ${kind}`, allowed: rule?.allowed ?? 'a text' })
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(read)
}
