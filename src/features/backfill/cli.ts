import type { Command } from 'commander'
import { backfillCancel, backfillFilter } from './schema.ts'
import { namesOf, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { filtersOf, optionsOf } from '../../cli/remote/schema-options.ts'
import { showResult } from '../../cli/remote/show.ts'
import { commandOf, remote, type CliContext } from '../../cli/remote/call.ts'
import { addList } from '../../cli/resource.ts'
import { EXIT } from '../../cli/terminal.ts'
import { backfillColumns, followBackfill, showBackfill } from './cli-show.ts'

const CANCEL_FIELDS = optionsOf(backfillCancel, {
  running: { flags: '--stop-running', stands: 'cancel', about: 'also cancel active runs' },
})

/** `escapement backfills …`: runs of past occurrences. */
export function addBackfills(group: Command, cli: CliContext): void {
  addList(cli, commandOf(group, 'list', 'list backfills'), {
    filter: filtersOf(backfillFilter),
    columns: backfillColumns,
    none: 'No backfills. Start one: escapement schedules backfill ID --from 7d',
    read: (call, query) => call.client.backfills.list(query),
  })
  const get = commandOf(group, 'get <id>', 'show a backfill and its progress')
  remote<{ readonly wait?: boolean }>(cli, get.option('--wait', 'wait until the backfill ends'), {
    work: async (call, [id = ''], { wait }) => {
      if (wait === true) return followBackfill(call, id)
      await showBackfill(call, await call.client.backfills.get(id))
      return EXIT.ok
    },
  })
  const cancel = commandOf(group, 'cancel <id>', 'cancel a backfill and its queued runs; active runs continue')
  remote(cli, withFields(cancel, CANCEL_FIELDS), {
    names: namesOf(CANCEL_FIELDS),
    work: async (call, [id = ''], options) => {
      const view = await call.client.backfills.cancel(id, valuesOf(CANCEL_FIELDS, options, call.now))
      await showResult(
        call,
        view,
        `${id} is ${view.state}: ${view.remaining} of ${view.total} occurrences did not run.`,
      )
    },
  })
}
