import { useMutation, useQueryClient } from '@tanstack/react-query'
import { EscapementError } from '../../../src/client/errors.ts'
import type { AsCodeDocument, PlanView } from '../../../src/features/as-code/schema.ts'
import type { ProblemError } from '../../../src/api/problem.ts'
import { readYaml, type ReadYaml } from '../../../src/platform/yaml/yaml.ts'
import { api } from '../../api/client.ts'
import { toast } from '../../parts/toasts/toast-store.ts'
import { useSay } from '../../texts/TextProvider.tsx'

/** Something that is wrong with the text, and where; null: nowhere in it. */
export interface TextFlaw {
  readonly line: number | null
  readonly column: number | null
  readonly field: string | null
  readonly message: string
  readonly allowed: string | null
}

/** What became of a text: a plan, and what is wrong with it. */
export interface Planned {
  readonly plan: PlanView | null
  readonly flaws: readonly TextFlaw[]
}

export interface PlanAsked {
  readonly text: string
  readonly prune: boolean
  /** The plan that was seen, which is to be carried out; left out: only a plan is made. */
  readonly expect?: string
}

/** Reads a text, asks the server for its plan or to carry it out, and finds the lines of what is wrong. */
export function usePlan() {
  const say = useSay()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (asked: PlanAsked) => planFor(asked),
    onSuccess: ({ plan }) => {
      if (plan?.applied !== true) return
      toast({ tone: 'done', message: say('asCode.applied', { count: changesIn(plan) }) })
      for (const group of ['asCode', 'schedules', 'agents', 'targets', 'budgets'])
        void queries.invalidateQueries({ queryKey: [group] })
    },
  })
}

/** How many things a plan changes. */
export const changesIn = ({ counts }: PlanView): number => counts.create + counts.update + counts.delete

async function planFor({ text, prune, expect }: PlanAsked): Promise<Planned> {
  const read = readYaml([{ name: '', text }])
  if (!read.ok)
    return {
      plan: null,
      flaws: read.flaws.map(({ line, column, message }) => ({ line, column, message, field: null, allowed: null })),
    }
  const document = read.value as unknown as AsCodeDocument
  try {
    const plan = await (expect === undefined
      ? api.asCode.plan(document, { query: { prune } })
      : api.asCode.apply(document, { query: { prune, expect } }))
    return { plan, flaws: plan.items.flatMap((item) => item.flaws.map((flaw) => placed(flaw, read))) }
  } catch (error) {
    if (!(error instanceof EscapementError) || error.errors.length === 0) throw error
    return { plan: null, flaws: error.errors.map((flaw) => placed(flaw, read)) }
  }
}

function placed({ pointer, message, allowed }: ProblemError, { positionOf: placeOf }: ReadYaml): TextFlaw {
  const place = placeOf(pointer)
  const field = pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  const [line, column] = place === null ? [null, null] : [place.line, place.column]
  return { line, column, message, field: field === '' ? null : field, allowed: allowed ?? null }
}
