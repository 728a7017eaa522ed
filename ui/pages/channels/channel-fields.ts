import type { ChannelView } from '../../../src/features/channels/schema.ts'
import type { Choice, FieldSpec, FormValues } from '../../forms/field.ts'

/** The kinds of channels. */
const CHANNEL_KINDS = ['telegram', 'slack', 'hook'] as const satisfies readonly ChannelView['kind'][]

const TOKEN: FieldSpec = { path: 'token', label: 'channels.token', kind: 'secret' }
const SIGNING: FieldSpec = { path: 'signing_secret', label: 'channels.signing', kind: 'secret' }
const LISTENERS: readonly FieldSpec[] = [
  { path: 'open', label: 'channels.open', kind: 'flag', hint: 'channels.openHint' },
  { path: 'allowed_users', label: 'channels.users', kind: 'list', hint: 'channels.usersHint' },
  { path: 'allowed_chats', label: 'channels.chats', kind: 'list' },
  { path: 'default_recipient', label: 'channels.recipient', kind: 'code', whenEmpty: 'null' },
]
const MODES: readonly Choice[] = [
  { value: 'polling', label: 'channels.mode.polling' },
  { value: 'webhook', label: 'channels.mode.webhook' },
]

/** What each kind needs to know. */
const BY_KIND: Readonly<Record<ChannelView['kind'], readonly FieldSpec[]>> = {
  telegram: [
    TOKEN,
    { path: 'mode', label: 'channels.mode', kind: 'choice', choices: MODES, isRequired: true },
    { path: 'hears_all', label: 'channels.hearsAll', kind: 'flag', hint: 'channels.hearsAllHint' },
    ...LISTENERS,
  ],
  slack: [TOKEN, SIGNING, ...LISTENERS],
  hook: [
    SIGNING,
    { path: 'session', label: 'channels.session', kind: 'code', hint: 'channels.sessionHint', whenEmpty: 'null' },
    { path: 'text', label: 'channels.text', kind: 'area', hint: 'channels.textHint', whenEmpty: 'null' },
    { path: 'lane', label: 'channels.lane', kind: 'code', whenEmpty: 'null' },
  ],
}

/** The fields of a channel, as its kind demands. Secrets have to be given to a new one; else they stay. */
export const channelFields =
  (isNew: boolean, agents: readonly Choice[]) =>
  (values: FormValues): readonly FieldSpec[] => {
    const kind = CHANNEL_KINDS.find((one) => one === values['kind']) ?? 'telegram'
    const own = BY_KIND[kind].map((field): FieldSpec =>
      field.kind !== 'secret' ? field : isNew ? { ...field, isRequired: true } : { ...field, hint: 'channels.stays' },
    )
    return [
      {
        ...{ path: 'name', label: 'channels.name', kind: 'code', isRequired: true, isFixed: !isNew },
        ...{ hint: 'channels.nameHint', example: 'telegram' },
      },
      {
        ...{ path: 'kind', label: 'channels.kind', kind: 'choice', isRequired: true, isFixed: !isNew },
        choices: CHANNEL_KINDS.map((value) => ({ value, label: `channels.kind.${value}` as const })),
      },
      { path: 'agent_id', label: 'channels.agent', kind: 'choice', choices: agents, isRequired: true },
      ...own,
    ]
  }
