import { IconFence } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { GuardRailsView } from '../../src/features/access/restrictions-schema.ts'
import { useTexts } from '../texts/TextProvider.tsx'
import { spanText } from '../time/span.ts'

/** Guard rails in a line: what they let through, and whether a person has to. */
export function RailsNote({ rails }: { readonly rails: GuardRailsView }): ReactNode {
  const { say, locale } = useTexts()
  const { budget } = rails
  const lifetime = rails.max_lifetime_seconds
  const parts = [
    say('rails.short.schedules', { count: rails.max_schedules }),
    say('rails.short.interval', { span: spanText(rails.min_interval_seconds * 1_000, say) }),
    say('rails.short.runs', { count: rails.max_runs_per_hour }),
    ...(lifetime === null ? [] : [say('rails.short.lifetime', { span: spanText(lifetime * 1_000, say) })]),
    ...(budget === null
      ? []
      : [
          say('rails.short.budget', {
            amount: budget.amount.toLocaleString(locale),
            unit: say(budget.unit === 'tokens' ? 'rails.word.tokens' : 'rails.word.money'),
            period: say(budget.period === 'day' ? 'rails.word.day' : 'rails.word.month'),
          }),
        ]),
    ...(rails.approval ? [say('rails.short.approval')] : []),
  ]
  return (
    <span className="rails-note quiet small">
      <IconFence size={13} role="img" aria-label={say('rails.label')} />
      {parts.join(' · ')}
    </span>
  )
}
