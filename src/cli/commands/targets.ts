import type { Command } from 'commander'
import { targetInput, targetPatch, type TargetTestView, type TargetView } from '../../features/targets/schema.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { paintState } from '../output/style.ts'
import { agoText, lengthText, momentText } from '../output/times.ts'
import { list, type ReadText } from '../remote/fields.ts'
import { showOne } from '../remote/show.ts'
import { commandOf, remote, type Desk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { addAction, addResource } from '../resource.ts'

const mailTo: ReadText = (text, about) => ({ to: list(text, about) })

const yesOrNo: ReadText = (text) => {
  if (text !== 'yes' && text !== 'no') throw new UsageError(`--alerts "${text}" is not understood. Allowed: yes, no`)
  return text === 'yes'
}

const QUIET = /^(\d{1,2}:\d{2})-(\d{1,2}:\d{2})@(\S+)$/

const quietHours: ReadText = (text) => {
  if (text === 'none') return null
  const [, start, end, timezone] = QUIET.exec(text) ?? []
  if (start === undefined)
    throw new UsageError(`--quiet-hours "${text}" is not understood. Allowed: none, or as in 22:00-07:00@Europe/Berlin`)
  return { start: start.padStart(5, '0'), end: end?.padStart(5, '0'), timezone }
}

/** `escapement targets …`: where results are delivered. */
export function addTargets(group: Command, desk: Desk): void {
  addResource<TargetView>(group, desk, {
    one: 'a target',
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
        hint: 'as in 22:00-07:00@Europe/Berlin, or none',
      },
      alerts: { flags: '--alerts [yes|no]', read: yesOrNo, stands: true },
    },
    none: 'No targets. Make one: escapement targets create --name … --to https://…',
    about: { delete: 'delete a target that no schedule delivers to' },
    columns: ({ now, style }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'NAME', of: ({ name }) => name, flexible: true },
      { title: 'STATE', of: stateOf, paint: (text) => paintState(style, text) },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'TO', of: placeOf, flexible: true },
      { title: 'HELD', of: ({ held }) => String(held), right: true },
      { title: 'FAILURES', of: ({ failures_in_a_row }) => String(failures_in_a_row), right: true },
      { title: 'DELIVERED', of: ({ last_delivered_at }) => agoText(last_delivered_at, now) },
    ],
    facts: ({ now, style }, target) => [
      ['id', target.id],
      ['name', target.name],
      ['state', paintState(style, stateOf(target))],
      ['why', target.disabled_why === null ? null : explainWhy(target.disabled_why)],
      ['kind', target.kind],
      ['to', placeOf(target)],
      ['alerts', target.alerts ? 'go to it' : null],
      ['quiet hours', quietText(target)],
      ['held', String(target.held)],
      ['failures in a row', String(target.failures_in_a_row)],
      ['last delivered', momentText(target.last_delivered_at, now)],
      ['last failed', momentText(target.last_failed_at, now)],
      ['made', momentText(target.created_at, now)],
    ],
  })
  addDoing(group, desk)
}

function addDoing(group: Command, desk: Desk): void {
  addAction(desk, commandOf(group, 'enable <id>', 'enable a target and send the messages held for it'), {
    call: (talk, [id = '']) => talk.client.targets.enable(id),
    say: ({ released }, id) => `${id} is enabled; held messages on their way: ${released}.`,
  })
  addAction(desk, commandOf(group, 'test <id>', 'send a test message to a target'), {
    call: (talk, [id = '']) => talk.client.targets.test(id),
    say: testText,
    isDone: ({ delivered }) => delivered,
  })
  const secret = commandOf(group, 'signing-secret', 'show the secret that signs webhooks')
  remote<{ readonly rotate?: boolean }>(desk, secret.option('--rotate', 'create a new one; for a day both sign'), {
    work: async (talk, _, { rotate }) => {
      const { targets } = talk.client
      const found = rotate === true ? await targets.rotateSecret() : await targets.signingSecret()
      await showOne(talk, found, () => [
        ['secret', found.secret],
        ['made', momentText(found.created_at, talk.now)],
        ['the one before signs until', momentText(found.previous_until, talk.now)],
      ])
    },
  })
}

function testText({ delivered, status_code: status, message, duration_ms: took }: TargetTestView, id: string): string {
  return delivered
    ? `${id} accepted it with ${status ?? 'no status'} after ${lengthText(took)}.`
    : `${id} did not accept it: ${message ?? 'nobody knows why'} (after ${lengthText(took)}).`
}

/** Where it leads, in one line. */
const placeOf = ({ url, settings }: TargetView): string =>
  url ??
  Object.values(settings)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(' ')

const quietText = ({ quiet_hours: hours }: TargetView): string | null =>
  hours === null ? null : `${hours.start}-${hours.end} ${hours.timezone}`

const stateOf = ({ enabled }: TargetView): string => (enabled ? 'active' : 'paused')
