import type { Command } from 'commander'
import type { ScheduleView } from '../../contract/schedule.ts'
import { oneLine } from '../output/text.ts'
import { showDone, type Facts } from '../remote/show.ts'
import { remote, type Desk } from '../remote/talk.ts'
import { commandOf } from './group.ts'
import { ifMatch, withVersion, type VersionOptions } from './versions.ts'

/** `escapement schedules approve|reject`: what keys with guard rails have proposed. */
export function addApproving(group: Command, desk: Desk): void {
  remote<VersionOptions>(desk, withVersion(commandOf(group, 'approve <id>', 'let a proposed schedule have its way')), {
    work: async (talk, [id = ''], options) => {
      const schedule = await talk.client.schedules.approve(id, ifMatch(options))
      const next = schedule.next_run_at === null ? '' : ` Next run: ${schedule.next_run_at}`
      await showDone(talk, schedule, `${id} is ${schedule.state}.${next}`)
    },
  })
  const reject = commandOf(group, 'reject <id>', 'keep a proposed schedule from happening').requiredOption(
    '--reason <text>',
    'why, for whoever proposed it',
  )
  remote<VersionOptions & { readonly reason: string }>(desk, withVersion(reject), {
    work: async (talk, [id = ''], options) => {
      const schedule = await talk.client.schedules.reject(id, { reason: options.reason }, ifMatch(options))
      await showDone(talk, schedule, `${id} is ${schedule.state}.`)
    },
  })
}

/** Who wants what of a schedule, of one that was proposed. */
export function approvalFacts({ approval, owner, created_by_run: run }: ScheduleView): Facts {
  const made: Facts = [
    ['owner', owner],
    ['made by run', run],
  ]
  if (approval === null) return made
  const { changes, rejected } = approval
  const wants = Object.entries(changes ?? {}).map(
    ([name, { before, after }]) => `${name}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
  )
  return [
    ...made,
    ['proposed', `by ${approval.requested_by}, ${changes === null ? 'as a new schedule' : oneLine(wants.join('; '))}`],
    ['rejected', rejected === null ? null : `by ${rejected.by}: ${oneLine(rejected.reason)}`],
  ]
}
