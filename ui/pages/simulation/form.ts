import { momentOf, wallTime } from '../../time/wall.ts'
import { OWN_ZONE } from '../../time/zone.ts'
import {
  outagesIn,
  outagesText,
  policiesIn,
  policiesText,
  type OutageForm,
  type PolicySet,
  type SimulateSearch,
} from './simulation-search.ts'

/** The windows one can choose. */
export const LENGTHS = ['5m', '1h', '6h', '24h', '7d', '30d'] as const

/** The form of a simulation. */
export interface SimulateForm {
  readonly ids: readonly string[]
  readonly all: boolean
  readonly draft: string | undefined
  /** On the clock of the person; empty: now. */
  readonly from: string
  readonly for: string
  readonly takes: string
  readonly fails: number | ''
  readonly tokens: number | ''
  readonly outages: readonly OutageForm[]
  readonly set: PolicySet
  readonly against: PolicySet
  readonly isCompared: boolean
  readonly replay: boolean
}

/** What a part of the question needs. */
export interface PartProps {
  readonly form: SimulateForm
  readonly set: (part: Partial<SimulateForm>) => void
}

/** What the form begins with. */
export const formOf = (search: SimulateSearch): SimulateForm => ({
  ids: (search.ids ?? '').split(',').filter((id) => id !== ''),
  ...{ all: search.all === true, draft: search.draft, for: search.for ?? '24h', takes: search.takes ?? '' },
  from: search.from === undefined ? '' : wallTime(Date.parse(search.from), OWN_ZONE),
  ...{ fails: search.fails ?? '', tokens: search.tokens ?? '', outages: outagesIn(search) },
  ...{ set: policiesIn(search.set), against: policiesIn(search.against) },
  ...{ isCompared: search.against !== undefined, replay: search.replay === true },
})

const MINUTE = 60_000

/** The address for what is asked. Outages are counted from the beginning of the window, so that it has one. */
export function searchOf(form: SimulateForm, now: number): SimulateSearch {
  const outages = outagesText(form.outages)
  const given = form.from === '' ? null : momentOf(form.from, OWN_ZONE)
  const from = given ?? (outages === '' || form.replay ? null : Math.ceil(now / MINUTE) * MINUTE)
  const search: Record<string, unknown> = {
    ...{ ids: form.all ? '' : form.ids.join(','), all: form.all, draft: form.draft ?? '' },
    ...{ from: from === null ? '' : new Date(from).toISOString(), for: form.for === '24h' ? '' : form.for },
    ...{ takes: form.takes.trim(), fails: form.fails, tokens: form.tokens, out: form.replay ? '' : outages },
    ...{ set: policiesText(form.set), against: form.isCompared ? policiesText(form.against) : '' },
    replay: form.replay,
  }
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== '' && value !== false))
}
