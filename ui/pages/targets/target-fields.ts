import type { FieldSpec, FormValues } from '../../forms/field.ts'

/** The kinds of targets, in the order in which people look for them. */
export const TARGET_KINDS = ['webhook', 'email', 'slack', 'telegram', 'session'] as const

const URL: FieldSpec = {
  ...{ path: 'url', label: 'targets.url', kind: 'code', isRequired: true, hint: 'targets.urlHint' },
  example: 'https://hooks.example.com/escapement',
}
const CHANNEL: FieldSpec = {
  path: 'settings.channel',
  label: 'targets.channel',
  kind: 'code',
  hint: 'targets.channelHint',
}

/** What each kind needs to know. */
const BY_KIND: Readonly<Record<(typeof TARGET_KINDS)[number], readonly FieldSpec[]>> = {
  webhook: [URL],
  email: [
    { path: 'settings.to', label: 'targets.to', kind: 'list', isRequired: true, example: 'ops@example.com' },
    { path: 'settings.subject_prefix', label: 'targets.prefix', kind: 'text' },
  ],
  slack: [
    { ...URL, isRequired: false, hint: 'targets.slackHint', example: 'https://hooks.slack.com/services/…' },
    CHANNEL,
    { path: 'settings.to', label: 'targets.slackTo', kind: 'code', example: 'C024BE91L' },
  ],
  telegram: [
    { ...CHANNEL, isRequired: true },
    { path: 'settings.chat_id', label: 'targets.chatId', kind: 'code', isRequired: true, example: '-1001234567890' },
  ],
  session: [
    { path: 'settings.session', label: 'targets.session', kind: 'code', isRequired: true, example: 'agent:echo:main' },
  ],
}

const QUIET: readonly FieldSpec[] = [
  { path: 'alerts', label: 'targets.alerts', kind: 'flag', hint: 'targets.alertsHint' },
  { path: 'quiet_hours.start', label: 'targets.quietStart', kind: 'code', hint: 'targets.quietHint', example: '22:00' },
  { path: 'quiet_hours.end', label: 'targets.quietEnd', kind: 'code', example: '07:00' },
  { path: 'quiet_hours.timezone', label: 'targets.quietZone', kind: 'code', example: 'Europe/Berlin' },
]

/** The fields of a target, as its kind demands. What kind it is never changes. */
export const targetFields =
  (isNew: boolean) =>
  (values: FormValues): readonly FieldSpec[] => {
    const kind = TARGET_KINDS.find((one) => one === values['kind']) ?? 'webhook'
    return [
      { path: 'name', label: 'targets.name', kind: 'text', isRequired: true },
      {
        ...{ path: 'kind', label: 'targets.kind', kind: 'choice', isRequired: true, isFixed: !isNew },
        choices: TARGET_KINDS.map((value) => ({ value, label: `targets.kind.${value}` as const })),
      },
      ...BY_KIND[kind],
      ...QUIET,
    ]
  }
