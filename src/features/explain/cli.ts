import type { Command } from 'commander'
import { explainQuery } from './schema.ts'
import { namesOf, pastTime, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { filtersOf } from '../../cli/remote/schema-options.ts'
import { remote, type CliContext } from '../../cli/remote/call.ts'
import { showExplanation } from './cli-show.ts'

const WHERE = filtersOf(explainQuery, { id: null, at: null })

const TIME_PATTERN = /^\d{4}-\d{2}-\d{2}(?:$|[Tt ])|^\d{1,2}:\d{2}/
const DURATION_PATTERN = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)/

/** `escapement explain …`: explains an object, or what happened at a time. */
export function addExplain(command: Command, cli: CliContext): void {
  remote(cli, withFields(command, WHERE), {
    names: { ...namesOf(WHERE), '/at': 'WHAT', '/id': 'WHAT' },
    work: async (call, [what = ''], options) => {
      const { now } = call
      const filters = valuesOf(WHERE, options, now)
      const subject = TIME_PATTERN.test(what)
        ? { at: what }
        : DURATION_PATTERN.test(what)
          ? { at: String(pastTime(what, { option: 'WHAT', now })) }
          : { id: what }
      await showExplanation(call, await call.client.explain.ask({ ...filters, ...subject }))
    },
  })
}
