import type { Command } from 'commander'
import { namesOf, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showList, withPages, type PageOptions } from '../remote/show.ts'
import { remote, type Desk } from '../remote/talk.ts'
import { EXIT } from '../terminal.ts'
import { backfillColumns, showBackfill } from './backfill-look.ts'
import { followBackfill } from './backfill.ts'
import { commandOf, groupOf } from './group.ts'

const FILTER: readonly FieldOption[] = [
  { flags: '--schedule <id>', field: 'schedule_id', about: 'of this schedule' },
  { flags: '--state <state>', field: 'state', about: 'running, done, cancelled or failed' },
]

const CANCEL: readonly FieldOption[] = [
  { flags: '--stop-running', field: 'running', stands: 'cancel', about: 'cancel the runs that are under way too' },
]

/** `escapement backfills …`: past moments that are made into runs. */
export function addBackfills(program: Command, desk: Desk): void {
  const group = groupOf(program, 'backfills', 'see and end backfills; schedules backfill begins one')
  remote<PageOptions>(desk, withPages(withFields(commandOf(group, 'list', 'list backfills'), FILTER)), {
    names: namesOf(FILTER),
    work: async (talk, _, options) => {
      const filter = valuesOf(FILTER, options, talk.terminal.now())
      const page = await readPages(talk, options, (asked) => talk.client.backfills.list({ ...filter, ...asked }))
      const none = 'No backfills. Begin one: escapement schedules backfill ID --from 7d'
      await showList(talk, page, { columns: backfillColumns(talk), none })
    },
  })
  const get = commandOf(group, 'get <id>', 'show how far a backfill has come')
  remote<{ readonly wait?: boolean }>(desk, get.option('--wait', 'follow it to its end'), {
    work: async (talk, [id = ''], { wait }) => {
      if (wait === true) return followBackfill(talk, id)
      await showBackfill(talk, await talk.client.backfills.get(id))
      return EXIT.ok
    },
  })
  const cancel = commandOf(group, 'cancel <id>', 'end a backfill; what works goes on, what waits is cancelled')
  remote(desk, withFields(cancel, CANCEL), {
    names: namesOf(CANCEL),
    work: async (talk, [id = ''], options) => {
      const view = await talk.client.backfills.cancel(id, valuesOf(CANCEL, options, talk.terminal.now()))
      await showDone(talk, view, `${id} is ${view.state}: ${view.remaining} of ${view.total} moments were not run.`)
    },
  })
}
