import type { ScheduleForm } from './form.ts'

/** What would become of one occurrence. */
export interface Simulated {
  /** When it was planned. */
  readonly at: number
  readonly fate: 'runs' | 'waits' | 'cut' | 'overlap' | 'overlap_limit' | 'concurrency' | 'queue_full'
  /** When it would start and end; null when it would not run. */
  readonly start: number | null
  readonly end: number | null
}

type Rules = Pick<
  ScheduleForm,
  'overlap_action' | 'max_parallel' | 'concurrency_policy' | 'max_concurrency' | 'queue_depth'
>

interface Going {
  readonly at: number
  /** Null while it waits for a slot. */
  start: number | null
  end: number
  cut: boolean
  waited: boolean
}

/**
 * What the overlap and concurrency policies would do if every run took as long as said: the same order of questions as
 * the engine's, without failures. It is an estimate for people; the server decides.
 */
export function simulate(occurrences: readonly number[], tookMs: number, rules: Rules): readonly Simulated[] {
  const all: Going[] = []
  const skipped: Simulated[] = []
  for (const at of occurrences) {
    settle(all, { until: at, tookMs, slots: rules.max_concurrency === '' ? 1 : rules.max_concurrency })
    const fate = decide(all, at, rules)
    if (fate === 'run') all.push({ at, start: at, end: at + tookMs, cut: false, waited: false })
    else if (fate === 'park') all.push({ at, start: null, end: Infinity, cut: false, waited: true })
    else skipped.push({ at, fate, start: null, end: null })
  }
  settle(all, { until: Infinity, tookMs, slots: rules.max_concurrency === '' ? 1 : rules.max_concurrency })
  const ran = all.map(({ at, start, end, cut, waited }): Simulated => ({
    ...{ at, start, end: start === null ? null : end },
    fate: cut ? 'cut' : waited ? 'waits' : 'runs',
  }))
  return [...ran, ...skipped].sort((a, b) => a.at - b.at)
}

type Skip = 'overlap' | 'overlap_limit' | 'concurrency' | 'queue_full'

function decide(all: readonly Going[], at: number, rules: Rules): 'run' | 'park' | Skip {
  const pending = all.filter(({ start, end, cut }) => !cut && (start === null || end > at))
  const previous = all.at(-1)
  const overlaps = previous !== undefined && pending.includes(previous)
  if (!overlaps) return slot(pending, rules, false)
  switch (rules.overlap_action) {
    case 'SKIP':
      return 'overlap'
    case 'CANCEL_PREV':
      for (const run of pending) Object.assign(run, { cut: true, end: at })
      return 'run'
    case 'PARALLEL':
      return rules.max_parallel === '' || pending.length < rules.max_parallel ? 'run' : 'overlap_limit'
    case 'BUFFER_ONE':
      return pending.some(({ start }) => start === null) ? 'overlap' : slot(pending, rules, true)
    default:
      return slot(pending, rules, false)
  }
}

function slot(pending: readonly Going[], rules: Rules, mayWait: boolean): 'run' | 'park' | Skip {
  const { concurrency_policy: policy, max_concurrency: most, queue_depth: depth } = rules
  const held = pending.filter(({ start }) => start !== null).length
  if (policy === 'PARALLEL' || held < (most === '' ? 1 : most)) return 'run'
  if (mayWait) return 'park'
  if (policy === 'SKIP') return 'concurrency'
  return pending.length - held < (depth === '' ? 10 : depth) ? 'park' : 'queue_full'
}

interface Settling {
  readonly until: number
  readonly tookMs: number
  readonly slots: number
}

/** Gives slots that become free before a moment to whoever has waited longest. */
function settle(all: readonly Going[], { until, tookMs, slots }: Settling): void {
  for (;;) {
    const next = all.find(({ start, cut }) => start === null && !cut)
    if (next === undefined) return
    const ends = all.flatMap(({ start, end }) => (start !== null && end > next.at ? [end] : [])).sort((a, b) => a - b)
    const free = ends[ends.length - slots] ?? next.at
    if (free > until) return
    Object.assign(next, { start: free, end: free + tookMs })
  }
}
