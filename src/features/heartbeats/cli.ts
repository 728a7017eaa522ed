import type { Command } from 'commander'
import {
  heartbeatInput,
  heartbeatLogFilter,
  type HeartbeatInput,
  type HeartbeatLogView,
  type HeartbeatView,
} from './schema.ts'
import { paintState } from '../../cli/output/style.ts'
import { manyLines, oneLine } from '../../cli/output/text.ts'
import { relativeTimeText, cliTimeText } from '../../cli/output/times.ts'
import type { OptionReader } from '../../cli/remote/fields.ts'
import { filtersOf, optionsOf } from '../../cli/remote/schema-options.ts'
import type { Facts } from '../../cli/remote/show.ts'
import { commandOf, type CliContext, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { addAction, addGet, addList, addWrite, ifMatch, type VersionOptions, withVersion } from '../../cli/resource.ts'
import { probeFacts, withProbe, withProbeIn, type ProbeOptions } from '../probes/cli-options.ts'

/** `22:00-06:00`, optionally with a time zone: `22:00-06:00@Europe/Berlin`. */
const readActiveHours: OptionReader = (text, { option }) => {
  const found = /^(\d{2}:\d{2})-(\d{2}:\d{2})(?:@(.+))?$/.exec(text.trim())
  if (found === null)
    throw new UsageError(`Invalid ${option} "${text}". Allowed: HH:MM-HH:MM, or HH:MM-HH:MM@Europe/Berlin`)
  const [, start = '', end = '', timezone] = found
  return { start, end, ...(timezone === undefined ? {} : { timezone }) }
}

const checklistText: OptionReader = (text) => ({ text })
const checklistFile: OptionReader = (text) => ({ file: text })

const HEARTBEAT_FIELDS = optionsOf(heartbeatInput, {
  checklist: [
    { flags: '--checklist <text>', read: checklistText },
    {
      flags: '--checklist-file <path>',
      read: checklistFile,
      about: 'checklist file in heartbeat.checklist_dir of the server',
    },
  ],
  interval_seconds: '--every <duration>',
  active_hours: { flags: '--active <from-to>', read: readActiveHours, hint: 'such as 08:00-18:00@Europe/Berlin' },
  adaptive: [
    { flags: '--adaptive', stands: true },
    {
      flags: '--stretch <json>',
      about: 'settings of the adaptive interval: {"ok_step": 3, "max_interval_seconds": 7200}',
    },
  ],
  // Has its own options: `withProbe`.
  probe: null,
})

/** `escapement heartbeat …`: periodic checks of a checklist by an agent. */
export function addHeartbeat(group: Command, cli: CliContext): void {
  addGet(cli, commandOf(group, 'get <agent>', 'show the heartbeat of an agent'), {
    facts: heartbeatFacts,
    read: (call, [id = '']) => call.client.heartbeat.get(id),
  })
  const set = commandOf(group, 'set <agent>', 'set the heartbeat of an agent; omitted fields keep their values')
  addWrite<HeartbeatView, VersionOptions & ProbeOptions>(cli, withProbe(withVersion(set)), {
    kind: 'change',
    fields: HEARTBEAT_FIELDS,
    names: { '/probe': '--probe' },
    facts: heartbeatFacts,
    send: (call, given, { args: [id = ''], options }) =>
      updateHeartbeat(call, id, { change: withProbeIn(given, options, call.terminal), ...ifMatch(options) }),
  })
  for (const verb of ['enable', 'disable'] as const)
    addGet(cli, commandOf(group, `${verb} <agent>`, `${verb} the heartbeat of an agent`), {
      facts: heartbeatFacts,
      read: (call, [id = '']) => updateHeartbeat(call, id, { change: { enabled: verb === 'enable' } }),
    })
  addAction(cli, commandOf(group, 'test <agent>', 'run the heartbeat of an agent once now'), {
    call: (call, [id = '']) => call.client.heartbeat.test(id),
    resultText: ({ ran, run_id: run = '', sentence }, id) =>
      ran
        ? `Created ${run}. Show its result with: escapement heartbeat log ${id}`
        : `No run created for ${id}: ${sentence}`,
    isSuccess: ({ ran }) => ran,
  })
  addList<HeartbeatLogView>(cli, commandOf(group, 'log <agent>', 'list the heartbeats of an agent, newest first'), {
    filter: filtersOf(heartbeatLogFilter),
    none: 'No heartbeats yet.',
    read: (call, query, [id = '']) => call.client.heartbeat.log(id, query),
    columns: ({ now, style }) => [
      { title: 'TIME', value: ({ at }) => relativeTimeText(at, now) },
      { title: 'OUTCOME', value: ({ outcome }) => outcome, paint: (text) => paintState(style, text) },
      { title: 'WHY', value: ({ sentence }) => sentence, flexible: true },
      { title: 'CHECKS', value: ({ looks }) => String(looks), right: true },
      { title: 'RUN', value: ({ run_id }) => run_id ?? '-' },
      { title: 'DELIVERY', value: ({ delivery_status }) => delivery_status ?? '-' },
    ],
  })
}

/** Replaces the heartbeat with its current fields plus the change; fails if it was changed in the meantime. */
async function updateHeartbeat(
  call: CliCall,
  id: string,
  { change, ifMatch: version }: { readonly change: Readonly<Record<string, unknown>>; readonly ifMatch?: number },
): Promise<HeartbeatView> {
  const now = await call.client.heartbeat.get(id)
  const { enabled, interval_seconds, active_hours, checklist, prompt, target, session, adaptive, probe } = now
  const kept = { interval_seconds, active_hours, checklist, prompt, target, session, adaptive, probe }
  // A first checklist enables the heartbeat; a heartbeat that a user has disabled stays disabled.
  const known = now.version === 0 || now.checklist === null ? kept : { ...kept, enabled }
  const body = { ...known, ack_max_chars: now.ack_max_chars, ...change } as HeartbeatInput
  return call.client.heartbeat.set(id, body, { ifMatch: version ?? now.version })
}

const stateOf = ({ enabled }: HeartbeatView): string => (enabled ? 'active' : 'paused')

function heartbeatFacts(call: CliCall, heartbeat: HeartbeatView): Facts {
  const { now, style } = call
  const { active_hours: active, checklist, adaptive } = heartbeat
  const every = `${heartbeat.interval_seconds} s`
  const currentInterval = heartbeat.current_interval_seconds
  return [
    ['agent', heartbeat.agent_id],
    ['state', paintState(style, stateOf(heartbeat))],
    ['every', currentInterval === heartbeat.interval_seconds ? every : `${every}, currently ${currentInterval} s`],
    ['next', cliTimeText(heartbeat.next_at, now)],
    ['active', active === null ? 'always' : `${active.start}-${active.end} ${active.timezone}`],
    [
      'checklist',
      checklist === null ? null : 'text' in checklist ? manyLines(checklist.text) : `file ${checklist.file}`,
    ],
    ['prompt', oneLine(heartbeat.prompt)],
    ['target', heartbeat.target],
    ['route', heartbeat.route ?? style.yellow(`none. ${heartbeat.no_route ?? ''}`)],
    ['acknowledgement', `HEARTBEAT_OK with up to ${heartbeat.ack_max_chars} other characters`],
    [
      'adaptive',
      adaptive === null
        ? null
        : `doubles after ${adaptive.ok_step} acknowledged, up to ${adaptive.max_interval_seconds} s`,
    ],
    ...probeFacts(call, heartbeat),
    ['streak', `${heartbeat.ok_streak} acknowledged`],
    ['session', heartbeat.session],
    ['version', String(heartbeat.version)],
  ]
}
