import type { Command } from 'commander'
import {
  heartbeatInput,
  heartbeatLogFilter,
  type HeartbeatInput,
  type HeartbeatLogView,
  type HeartbeatView,
} from '../../features/heartbeats/schema.ts'
import { paintState } from '../output/style.ts'
import { manyLines, oneLine } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import type { ReadText } from '../remote/fields.ts'
import { filtersOf, optionsOf } from '../remote/schema-options.ts'
import type { Facts } from '../remote/show.ts'
import { commandOf, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { addAction, addGet, addList, addWrite } from '../resource.ts'
import { probeFacts, withProbe, withProbeIn, type ProbeOptions } from '../../features/probes/cli-options.ts'
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

const FIELDS = optionsOf(heartbeatInput, {
  checklist: [
    { flags: '--checklist <text>', read: words },
    {
      flags: '--checklist-file <path>',
      read: file,
      about: 'checklist file below heartbeat.checklist_dir of the server',
    },
  ],
  interval_seconds: '--every <duration>',
  active_hours: { flags: '--active <from-to>', read: hours, hint: 'as in 08:00-18:00@Europe/Berlin' },
  adaptive: [
    { flags: '--adaptive', stands: true },
    { flags: '--stretch <json>', about: 'how it adapts: {"ok_step": 3, "max_interval_seconds": 7200}' },
  ],
  // It has options of its own.
  probe: null,
})

/** `escapement heartbeat …`: agents that look after a checklist by themselves. */
export function addHeartbeat(group: Command, desk: Desk): void {
  addGet(desk, commandOf(group, 'get <agent>', 'show the heartbeat of an agent'), {
    facts,
    read: (talk, [id = '']) => talk.client.heartbeat.get(id),
  })
  const set = commandOf(group, 'set <agent>', 'set the heartbeat of an agent; omitted fields stay as they are')
  addWrite<HeartbeatView, VersionOptions & ProbeOptions>(desk, withProbe(withVersion(set)), {
    kind: 'change',
    fields: FIELDS,
    names: { '/probe': '--probe' },
    facts,
    send: (talk, given, { args: [id = ''], options }) =>
      changed(talk, id, { change: withProbeIn(given, options, talk.terminal), ...ifMatch(options) }),
  })
  for (const verb of ['enable', 'disable'] as const)
    addGet(desk, commandOf(group, `${verb} <agent>`, `${verb} the heartbeat of an agent`), {
      facts,
      read: (talk, [id = '']) => changed(talk, id, { change: { enabled: verb === 'enable' } }),
    })
  addAction(desk, commandOf(group, 'test <agent>', 'run the heartbeat of an agent once, now'), {
    call: (talk, [id = '']) => talk.client.heartbeat.test(id),
    say: ({ ran, run_id: run = '', sentence }, id) =>
      ran
        ? `${run} is on its way; escapement heartbeat log ${id} says what comes of it.`
        : `${id} was not asked: ${sentence}`,
    isDone: ({ ran }) => ran,
  })
  addList<HeartbeatLogView>(desk, commandOf(group, 'log <agent>', 'list the heartbeats of an agent, newest first'), {
    filter: filtersOf(heartbeatLogFilter),
    none: 'Nothing in the log.',
    read: (talk, query, [id = '']) => talk.client.heartbeat.log(id, query),
    columns: ({ now, style }) => [
      { title: 'AT', of: ({ at }) => agoText(at, now) },
      { title: 'OUTCOME', of: ({ outcome }) => outcome, paint: (text) => paintState(style, text) },
      { title: 'WHY', of: ({ sentence }) => sentence, flexible: true },
      { title: 'LOOKS', of: ({ looks }) => String(looks), right: true },
      { title: 'RUN', of: ({ run_id }) => run_id ?? '-' },
      { title: 'DELIVERY', of: ({ delivery_status }) => delivery_status ?? '-' },
    ],
  })
}

/** Everything that is set, with what is to be changed; refused when somebody else has changed it meanwhile. */
async function changed(
  talk: Talk,
  id: string,
  { change, ifMatch: wanted }: { readonly change: Readonly<Record<string, unknown>>; readonly ifMatch?: number },
): Promise<HeartbeatView> {
  const now = await talk.client.heartbeat.get(id)
  const { enabled, interval_seconds, active_hours, checklist, prompt, target, session, adaptive, probe } = now
  const kept = { interval_seconds, active_hours, checklist, prompt, target, session, adaptive, probe }
  // A first checklist switches it on; a heartbeat that somebody has switched off stays off.
  const known = now.version === 0 || now.checklist === null ? kept : { ...kept, enabled }
  const body = { ...known, ack_max_chars: now.ack_max_chars, ...change } as HeartbeatInput
  return talk.client.heartbeat.set(id, body, { ifMatch: wanted ?? now.version })
}

const stateOf = ({ enabled }: HeartbeatView): string => (enabled ? 'active' : 'paused')

function facts(talk: Talk, heartbeat: HeartbeatView): Facts {
  const { now, style } = talk
  const { active_hours: active, checklist, adaptive } = heartbeat
  const every = `${heartbeat.interval_seconds} s`
  const stretched = heartbeat.current_interval_seconds
  return [
    ['agent', heartbeat.agent_id],
    ['state', paintState(style, stateOf(heartbeat))],
    ['every', stretched === heartbeat.interval_seconds ? every : `${every}, at present ${stretched} s`],
    ['next', momentText(heartbeat.next_at, now)],
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
