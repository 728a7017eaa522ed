import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { BackfillInput, BackfillView } from '../../contract/backfill.ts'
import {
  milliseconds,
  namesOf,
  number,
  pastMoment,
  valuesOf,
  withFields,
  type FieldOption,
  type ReadText,
} from '../remote/fields.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { barOf, showBackfill, showEnded } from './backfill-look.ts'
import { commandOf } from './group.ts'

/** How many, or `never`. */
const countOrNever: ReadText = (text, about) => (text === 'never' ? null : number(text, about))

const FIELDS: readonly FieldOption[] = [
  { flags: '--from <time>', field: 'from', read: pastMoment, about: 'the first moment, or how long ago: 7d' },
  { flags: '--to <time>', field: 'to', read: pastMoment, about: 'the end, which is not part of it (default now)' },
  { flags: '--which <which>', field: 'which', about: 'missing (default), failed or all moments' },
  { flags: '--max-active <n>', field: 'max_active', read: number, about: 'runs at a time (default 1)' },
  { flags: '--spacing <duration>', field: 'spacing_ms', read: milliseconds, about: 'the least time between two' },
  { flags: '--order <order>', field: 'order', about: 'oldest (default) or newest first' },
  { flags: '--policy <policy>', field: 'policy', about: "wait for the schedule's own runs (default), or go beside" },
  { flags: '--lane <lane>', field: 'lane', about: 'the lane of its runs (default: that of the schedule)' },
  {
    flags: '--stop-after <n>',
    field: 'stop_on_failures',
    read: countOrNever,
    about: 'failures in a row, or never (default 5)',
  },
  { flags: '--keep-results', field: 'deliver', stands: false, about: 'results are kept and sent nowhere' },
  { flags: '--dry-run', field: 'dry_run', stands: true, about: 'say what would be done, and change nothing' },
]

/** `escapement schedules backfill`: runs for past moments. */
export function addBackfill(group: Command, desk: Desk): void {
  const command = withFields(commandOf(group, 'backfill <id>', 'make runs for past moments of a schedule'), FIELDS)
  const waiting = command.option('--wait', 'follow it to its end; the exit code is 1 unless every run succeeds')
  remote<{ readonly wait?: boolean }>(desk, waiting, {
    names: namesOf(FIELDS),
    work: async (talk, [id = ''], options) => {
      const asked = valuesOf(FIELDS, options, talk.terminal.now())
      const begun = await talk.client.schedules.backfill(id, asked as unknown as BackfillInput)
      if (options.wait === true && begun.id !== null) return followBackfill(talk, begun.id)
      await showBackfill(talk, begun)
      return EXIT.ok
    },
  })
}

const LOOK_EVERY_MS = 500

/** Follows a backfill to its end, with how far it is for whoever sits there. */
export async function followBackfill(talk: Talk, id: string): Promise<ExitCode> {
  for (;;) {
    const view: BackfillView = await talk.client.backfills.get(id)
    if (view.state !== 'running' && view.in_flight === 0) {
      await talk.note('\r\u001b[K')
      return showEnded(talk, view)
    }
    await talk.note(barOf(view, talk))
    await sleep(LOOK_EVERY_MS)
  }
}
