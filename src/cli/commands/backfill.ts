import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { backfillInput, type BackfillView } from '../../features/backfill/schema.ts'
import { namesOf, number, pastMoment, valuesOf, withFields, type ReadText } from '../remote/fields.ts'
import { optionsOf } from '../remote/schema-options.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { barOf, showBackfill, showEnded } from './backfill-look.ts'

/** How many, or `never`. */
const countOrNever: ReadText = (text, about) => (text === 'never' ? null : number(text, about))

const FIELDS = optionsOf(backfillInput, {
  from: { read: pastMoment, hint: 'or how long ago: 7d' },
  to: { read: pastMoment },
  stop_on_failures: { flags: '--stop-after <n>', read: countOrNever, hint: 'or never' },
  deliver: { flags: '--keep-results', stands: false, about: 'keep results and deliver them nowhere' },
})

/** `escapement schedules backfill`: runs for past moments. */
export function addBackfill(group: Command, desk: Desk): void {
  const command = withFields(commandOf(group, 'backfill <id>', 'run past occurrences of a schedule'), FIELDS)
  const waiting = command.option('--wait', 'wait until it ends; the exit code is 1 unless every run succeeds')
  remote<{ readonly wait?: boolean }>(desk, waiting, {
    names: namesOf(FIELDS),
    work: async (talk, [id = ''], options) => {
      const asked = valuesOf(FIELDS, options, talk.now)
      const begun = await talk.client.schedules.backfill(id, asked as never)
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
