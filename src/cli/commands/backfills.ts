import type { Command } from 'commander'
import { backfillCancel, backfillFilter } from '../../features/backfill/schema.ts'
import { namesOf, valuesOf, withFields } from '../remote/fields.ts'
import { filtersOf, optionsOf } from '../remote/schema-options.ts'
import { showDone } from '../remote/show.ts'
import { commandOf, remote, type Desk } from '../remote/talk.ts'
import { addList } from '../resource.ts'
import { EXIT } from '../terminal.ts'
import { backfillColumns, showBackfill } from './backfill-look.ts'
import { followBackfill } from './backfill.ts'

const CANCEL = optionsOf(backfillCancel, {
  running: { flags: '--stop-running', stands: 'cancel', about: 'also cancel its active runs' },
})

/** `escapement backfills …`: past occurrences that are run. */
export function addBackfills(group: Command, desk: Desk): void {
  addList(desk, commandOf(group, 'list', 'list backfills'), {
    filter: filtersOf(backfillFilter),
    columns: backfillColumns,
    none: 'No backfills. Begin one: escapement schedules backfill ID --from 7d',
    read: (talk, query) => talk.client.backfills.list(query),
  })
  const get = commandOf(group, 'get <id>', 'show the progress of a backfill')
  remote<{ readonly wait?: boolean }>(desk, get.option('--wait', 'wait until it ends'), {
    work: async (talk, [id = ''], { wait }) => {
      if (wait === true) return followBackfill(talk, id)
      await showBackfill(talk, await talk.client.backfills.get(id))
      return EXIT.ok
    },
  })
  const cancel = commandOf(group, 'cancel <id>', 'cancel a backfill; queued runs are cancelled, active ones continue')
  remote(desk, withFields(cancel, CANCEL), {
    names: namesOf(CANCEL),
    work: async (talk, [id = ''], options) => {
      const view = await talk.client.backfills.cancel(id, valuesOf(CANCEL, options, talk.now))
      await showDone(talk, view, `${id} is ${view.state}: ${view.remaining} of ${view.total} moments were not run.`)
    },
  })
}
