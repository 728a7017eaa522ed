import type { Command } from 'commander'
import type { HeartbeatInput, HeartbeatLogView, HeartbeatView } from '../../contract/heartbeat.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { manyLines, oneLine } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import { bodyOf, json, namesOf, number, seconds, withBody, type FieldOption, type ReadText } from '../remote/fields.ts'
import { printJson, readPages, showList, showOne, withPages, type Facts, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { commandOf, groupOf } from './group.ts'
import { probeFacts, withProbe, withProbeIn, type ProbeOptions } from './probe-options.ts'
import { ifMatch, withVersion, type VersionOptions } from './versions.ts'

/** `22:00-06:00`, with `@Europe/Berlin` behind it for another zone than the org's. */
const hours: ReadText = (text, { option }) => {
  const found = /^(\d{2}:\d{2})-(\d{2}:\d{2})(?:@(.+))?$/.exec(text.trim())
  if (found === null)
    throw new UsageError(`${option} "${text}" is not understood. Allowed: HH:MM-HH:MM, or HH:MM-HH:MM@Europe/Berlin`)
  const [, start = '', end = '', timezone] = found
  return { start, end, ...(timezone === undefined ? {} : { timezone }) }
}

const words: ReadText = (text) => ({ text })
const file: ReadText = (text) => ({ file: text })

const FIELDS: readonly FieldOption[] = [
  { flags: '--checklist <text>', field: 'checklist', read: words, about: 'what is looked after' },
  {
    flags: '--checklist-file <path>',
    ...{ field: 'checklist', read: file, about: 'the same in a file below heartbeat.checklist_dir of the server' },
  },
  { flags: '--every <duration>', field: 'interval_seconds', read: seconds, about: 'how often, as in 30m' },
  { flags: '--active <from-to>', field: 'active_hours', read: hours, about: 'when, as in 08:00-18:00@Europe/Berlin' },
  { flags: '--prompt <text>', field: 'prompt', about: 'what the agent is told before the checklist' },
  {
    flags: '--target <where>',
    ...{ field: 'target', about: 'where news goes: last, none, a channel, channel:recipient, the id of a target' },
  },
  {
    flags: '--ack-max-chars <n>',
    ...{ field: 'ack_max_chars', read: number, about: 'how much beside HEARTBEAT_OK is still no news' },
  },
  { flags: '--session <key>', field: 'session', about: 'the session in which it is talked about' },
  { flags: '--adaptive', field: 'adaptive', stands: true, about: 'let the interval grow while all is well' },
  {
    flags: '--stretch <json>',
    field: 'adaptive',
    read: json,
    about: 'how: {"ok_step": 3, "max_interval_seconds": 7200}',
  },
  { flags: '--disabled', field: 'enabled', stands: false, about: 'switched off' },
]

/** `escapement heartbeat …`: agents that look after a checklist by themselves. */
export function addHeartbeat(program: Command, desk: Desk): void {
  const group = groupOf(program, 'heartbeat', 'let agents look after a checklist by themselves')
  remote(desk, commandOf(group, 'get <agent>', 'show the heartbeat of an agent'), {
    work: async (talk, [id = '']) => show(talk, await talk.client.heartbeat.get(id)),
  })
  const set = withBody(commandOf(group, 'set <agent>', 'set it; what is not named stays'), FIELDS, 'change')
  remote<VersionOptions & ProbeOptions>(desk, withProbe(withVersion(set)), {
    names: { ...namesOf(FIELDS), '/probe': '--probe' },
    work: async (talk, [id = ''], options) => {
      const change = withProbeIn(await bodyOf(talk.terminal, FIELDS, options), options, talk.terminal)
      await show(talk, await changed(talk, id, { change, ...ifMatch(options) }))
    },
  })
  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const)
    remote(desk, commandOf(group, `${name} <agent>`, `switch the heartbeat of an agent ${enabled ? 'on' : 'off'}`), {
      work: async (talk, [id = '']) => show(talk, await changed(talk, id, { change: { enabled } })),
    })
  remote(desk, commandOf(group, 'test <agent>', 'let the heart of an agent beat once, now'), {
    work: (talk, [id = '']) => test(talk, id),
  })
  const log = commandOf(group, 'log <agent>', 'list what became of the heartbeats of an agent')
  remote<PageOptions & { readonly outcome?: string }>(
    desk,
    withPages(log.option('--outcome <words>', 'only these, with commas: news, suppressed, skipped, busy, failed …')),
    {
      work: async (talk, [id = ''], options) => {
        const { outcome } = options
        const page = await readPages(talk, options, (asked) =>
          talk.client.heartbeat.log(id, { ...asked, ...(outcome === undefined ? {} : { outcome }) }),
        )
        await showList(talk, page, { columns: columnsOf(talk), none: 'Nothing in the log.' })
      },
    },
  )
}

/** Everything that is set, with what is to be changed; refused when somebody else has changed it meanwhile. */
async function changed(
  talk: Talk,
  id: string,
  { change, ifMatch: wanted }: { readonly change: Readonly<Record<string, unknown>>; readonly ifMatch?: number },
): Promise<HeartbeatView> {
  const now = await talk.client.heartbeat.get(id)
  const {
    enabled,
    interval_seconds,
    active_hours,
    checklist,
    prompt,
    target,
    ack_max_chars,
    session,
    adaptive,
    probe,
  } = now
  const kept = { interval_seconds, active_hours, checklist, prompt, target, ack_max_chars, session, adaptive, probe }
  // A first checklist switches it on; a heartbeat that somebody has switched off stays off.
  const known = now.version === 0 || now.checklist === null ? kept : { ...kept, enabled }
  const body = { ...known, ...change } as HeartbeatInput
  return talk.client.heartbeat.set(id, body, { ifMatch: wanted ?? now.version })
}

async function test(talk: Talk, id: string): Promise<ExitCode> {
  const answer = await talk.client.heartbeat.test(id)
  if (talk.json) await printJson(talk, answer)
  else
    await talk.print(
      answer.ran
        ? `${answer.run_id ?? ''} is on its way; escapement heartbeat log ${id} says what comes of it.\n`
        : `${id} was not asked: ${answer.sentence}\n`,
    )
  return answer.ran ? EXIT.ok : EXIT.refused
}

const show = (talk: Talk, heartbeat: HeartbeatView): Promise<void> =>
  showOne(talk, heartbeat, () => factsOf(talk, heartbeat))

const stateOf = ({ enabled }: HeartbeatView): string => (enabled ? 'active' : 'paused')

function factsOf(talk: Talk, heartbeat: HeartbeatView): Facts {
  const { terminal, style } = talk
  const { active_hours: active, checklist, adaptive } = heartbeat
  const every = `${heartbeat.interval_seconds} s`
  const stretched = heartbeat.current_interval_seconds
  return [
    ['agent', heartbeat.agent_id],
    ['state', paintState(style, stateOf(heartbeat))],
    ['every', stretched === heartbeat.interval_seconds ? every : `${every}, at present ${stretched} s`],
    ['next', momentText(heartbeat.next_at, terminal.now())],
    ['active', active === null ? 'always' : `${active.start}-${active.end} ${active.timezone}`],
    [
      'checklist',
      checklist === null ? null : 'text' in checklist ? manyLines(checklist.text) : `file ${checklist.file}`,
    ],
    ['prompt', oneLine(heartbeat.prompt)],
    ['target', heartbeat.target],
    ['route', heartbeat.route ?? style.yellow(`none. ${heartbeat.no_route ?? ''}`)],
    ['acknowledgement', `up to ${heartbeat.ack_max_chars} characters beside HEARTBEAT_OK`],
    [
      'adaptive',
      adaptive === null ? null : `doubles after ${adaptive.ok_step}, up to ${adaptive.max_interval_seconds} s`,
    ],
    ...probeFacts(talk, heartbeat),
    ['in a row', `${heartbeat.ok_streak} acknowledged`],
    ['session', heartbeat.session],
    ['version', String(heartbeat.version)],
  ]
}

function columnsOf({ terminal, style }: Talk): readonly Column<HeartbeatLogView>[] {
  const now = terminal.now()
  return [
    { title: 'AT', of: ({ at }) => agoText(at, now) },
    { title: 'OUTCOME', of: ({ outcome }) => outcome, paint: (text) => paintState(style, text) },
    { title: 'WHY', of: ({ sentence }) => sentence, flexible: true },
    { title: 'LOOKS', of: ({ looks }) => String(looks), right: true },
    { title: 'RUN', of: ({ run_id }) => run_id ?? '-' },
    { title: 'DELIVERY', of: ({ delivery_status }) => delivery_status ?? '-' },
  ]
}
