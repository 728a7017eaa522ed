import type { Command } from 'commander'
import { explainQuery } from '../../features/explain/schema.ts'
import { namesOf, pastMoment, valuesOf, withFields } from '../remote/fields.ts'
import { filtersOf } from '../remote/schema-options.ts'
import { remote, type Desk } from '../remote/talk.ts'
import { showExplanation } from './explain-look.ts'

const WHERE = filtersOf(explainQuery, { id: null, at: null })

const TIME = /^\d{4}-\d{2}-\d{2}(?:$|[Tt ])|^\d{1,2}:\d{2}/
const LENGTH = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)/

/** `escapement explain …`: why something happened, or why nothing did. */
export function addExplain(command: Command, desk: Desk): void {
  remote(desk, withFields(command, WHERE), {
    names: { ...namesOf(WHERE), '/at': 'WHAT', '/id': 'WHAT' },
    work: async (talk, [what = ''], options) => {
      const { now } = talk
      const where = valuesOf(WHERE, options, now)
      const asked = TIME.test(what)
        ? { at: what }
        : LENGTH.test(what)
          ? { at: String(pastMoment(what, { option: 'WHAT', now })) }
          : { id: what }
      await showExplanation(talk, await talk.client.explain.ask({ ...where, ...asked }))
    },
  })
}
