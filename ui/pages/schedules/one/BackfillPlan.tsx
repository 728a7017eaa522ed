import type { ReactNode } from 'react'
import type { BackfillView } from '../../../../src/features/backfill/schema.ts'
import { useTexts } from '../../../texts/TextProvider.tsx'
import { spanText } from '../../../time/span.ts'
import { Time } from '../../../time/Time.tsx'
import { useLeftOut } from './backfill-words.ts'

/** What a backfill would do, before anything is changed. */
export function BackfillPlan({ plan, zone }: { readonly plan: BackfillView; readonly zone: string }): ReactNode {
  const { say, locale } = useTexts()
  const leftOut = useLeftOut()
  const { total, first, last, expected, notes } = plan
  const facts: readonly (readonly [string, ReactNode])[] = [
    ...(first === null || last === null
      ? []
      : ([
          [say('backfill.first'), <Time key="first" at={first} zone={zone} show="both" />],
          [say('backfill.last'), <Time key="last" at={last} zone={zone} show="both" />],
        ] as const)),
    [
      say('backfill.duration'),
      expected.duration_ms === null ? say('backfill.unknown') : spanText(expected.duration_ms, say),
    ],
    ...(expected.tokens === null ? [] : ([[say('backfill.tokens'), expected.tokens.toLocaleString(locale)]] as const)),
    ...(expected.cost === null ? [] : ([[say('backfill.cost'), expected.cost.toLocaleString(locale)]] as const)),
    [say('backfill.leftOut'), leftOut(plan.left_out)],
  ]
  return (
    <section className="backfill-plan" aria-label={say('backfill.planned')}>
      <strong>{say('backfill.takes', { count: total })}</strong>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {notes.length > 0 && (
        <ul className="backfill-notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </section>
  )
}
