import type { Command } from 'commander'
import { targetInput, targetPatch, type TargetTestView, type TargetView } from './schema.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { paintState } from '../../cli/output/style.ts'
import { relativeTimeText, durationText, cliTimeText } from '../../cli/output/times.ts'
import { list, type OptionReader } from '../../cli/remote/fields.ts'
import { showOne } from '../../cli/remote/show.ts'
import { commandOf, type CliContext, remote, UsageError } from '../../cli/remote/call.ts'
import { addAction, addResource } from '../../cli/resource.ts'

const mailTo: OptionReader = (text, about) => ({ to: list(text, about) })

const yesOrNo: OptionReader = (text) => {
  if (text !== 'yes' && text !== 'no') throw new UsageError(`Invalid --alerts "${text}". Allowed: yes, no`)
  return text === 'yes'
}

const QUIET_HOURS_PATTERN = /^(\d{1,2}:\d{2})-(\d{1,2}:\d{2})@(\S+)$/

const quietHours: OptionReader = (text) => {
  if (text === 'none') return null
  const [, start, end, timezone] = QUIET_HOURS_PATTERN.exec(text) ?? []
  if (start === undefined)
    throw new UsageError(
      `Invalid --quiet-hours "${text}". Allowed: HH:MM-HH:MM@ZONE, such as 22:00-07:00@Europe/Berlin, or none`,
    )
  return { start: start.padStart(5, '0'), end: end?.padStart(5, '0'), timezone }
}

/** `escapement targets …`: delivery targets of results. */
export function addTargets(group: Command, cli: CliContext): void {
  addResource<TargetView>(group, cli, {
    singular: 'a target',
    input: targetInput,
    patch: targetPatch,
    operations: ({ targets }) => targets,
    flags: {
      url: '--to <url>',
      settings: [
        { flags: '--mail-to <a,b>', read: mailTo, about: 'recipients of a target of kind email' },
        '--settings <json>',
      ],
      quiet_hours: {
        flags: '--quiet-hours <from-to@zone>',
        read: quietHours,
        hint: 'such as 22:00-07:00@Europe/Berlin, or none',
      },
      alerts: { flags: '--alerts [yes|no]', read: yesOrNo, stands: true },
    },
    none: 'No targets. Create one: escapement targets create --name … --to https://…',
    descriptions: { delete: 'delete a target that no schedule delivers to' },
    columns: ({ now, style }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name, flexible: true },
      { title: 'STATE', value: stateOf, paint: (text) => paintState(style, text) },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'TO', value: targetAddress, flexible: true },
      { title: 'HELD', value: ({ held }) => String(held), right: true },
      { title: 'FAILURES', value: ({ failures_in_a_row }) => String(failures_in_a_row), right: true },
      { title: 'DELIVERED', value: ({ last_delivered_at }) => relativeTimeText(last_delivered_at, now) },
    ],
    facts: ({ now, style }, target) => [
      ['id', target.id],
      ['name', target.name],
      ['state', paintState(style, stateOf(target))],
      ['why', target.disabled_why === null ? null : explainWhy(target.disabled_why)],
      ['kind', target.kind],
      ['to', targetAddress(target)],
      ['alerts', target.alerts ? 'yes' : null],
      ['quiet hours', quietText(target)],
      ['held', String(target.held)],
      ['failures in a row', String(target.failures_in_a_row)],
      ['last delivered', cliTimeText(target.last_delivered_at, now)],
      ['last failed', cliTimeText(target.last_failed_at, now)],
      ['created', cliTimeText(target.created_at, now)],
    ],
  })
  addTargetActions(group, cli)
}

function addTargetActions(group: Command, cli: CliContext): void {
  addAction(cli, commandOf(group, 'enable <id>', 'enable a target and send the messages held for it'), {
    call: (call, [id = '']) => call.client.targets.enable(id),
    resultText: ({ released }, id) => `${id} is enabled; sending ${released} held messages.`,
  })
  addAction(cli, commandOf(group, 'test <id>', 'send a test message to a target'), {
    call: (call, [id = '']) => call.client.targets.test(id),
    resultText: testText,
    isSuccess: ({ delivered }) => delivered,
  })
  const secret = commandOf(group, 'signing-secret', 'show the secret that signs webhooks')
  remote<{ readonly rotate?: boolean }>(
    cli,
    secret.option('--rotate', 'create a new secret; both secrets sign for one day'),
    {
      work: async (call, _, { rotate }) => {
        const { targets } = call.client
        const secretView = rotate === true ? await targets.rotateSecret() : await targets.signingSecret()
        await showOne(call, secretView, () => [
          ['secret', secretView.secret],
          ['created', cliTimeText(secretView.created_at, call.now)],
          ['previous signs until', cliTimeText(secretView.previous_until, call.now)],
        ])
      },
    },
  )
}

function testText({ delivered, status_code: status, message, duration_ms: took }: TargetTestView, id: string): string {
  return delivered
    ? `${id} accepted the test message with ${status === null ? 'no status' : `status ${status}`} after ${durationText(took)}.`
    : `${id} did not accept the test message: ${message ?? 'unknown error'} (after ${durationText(took)}).`
}

/** The address of a target in one line. */
const targetAddress = ({ url, settings }: TargetView): string =>
  url ??
  Object.values(settings)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(' ')

const quietText = ({ quiet_hours: hours }: TargetView): string | null =>
  hours === null ? null : `${hours.start}-${hours.end} ${hours.timezone}`

const stateOf = ({ enabled }: TargetView): string => (enabled ? 'active' : 'paused')
