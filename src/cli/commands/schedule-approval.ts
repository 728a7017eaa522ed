import type { Command } from 'commander'
import type { ScheduleView } from '../../contract/schedule.ts'
import { oneLine } from '../output/text.ts'
import type { Facts } from '../remote/show.ts'
import { commandOf, type Desk } from '../remote/talk.ts'
import { addAction } from '../resource.ts'
import { ifMatch, withVersion, type VersionOptions } from './versions.ts'

/** `escapement schedules approve|reject`: what keys with guard rails have proposed. */
export function addApproving(group: Command, desk: Desk): void {
  addAction<ScheduleView, VersionOptions>(
    desk,
    withVersion(commandOf(group, 'approve <id>', 'approve a proposed schedule')),
    {
      call: (talk, [id = ''], options) => talk.client.schedules.approve(id, ifMatch(options)),
      say: stateText,
    },
  )
  const reject = commandOf(group, 'reject <id>', 'reject a proposed schedule').requiredOption('--reason <text>', 'why')
  addAction<ScheduleView, VersionOptions & { readonly reason: string }>(desk, withVersion(reject), {
    call: (talk, [id = ''], { reason, ...options }) => talk.client.schedules.reject(id, { reason }, ifMatch(options)),
    say: ({ state }, id) => `${id} is ${state}.`,
  })
}

/** What became of a schedule that was enabled. */
export const stateText = ({ state, next_run_at: next }: ScheduleView, id: string): string =>
  `${id} is ${state}.${next === null ? '' : ` Next run: ${next}`}`

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
