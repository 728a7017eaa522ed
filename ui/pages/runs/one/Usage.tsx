import type { ReactNode } from 'react'
import type { UsageView } from '../../../../src/features/runs/schema.ts'
import { Panel } from '../../../parts/Panel.tsx'
import { useTexts } from '../../../texts/TextProvider.tsx'

/** What the run has used, as its executor said; without that there is nothing to show. */
export function Usage({ usage }: { readonly usage: UsageView | null }): ReactNode {
  const { say, locale } = useTexts()
  if (usage === null || Object.keys(usage).length === 0) return null
  const { input_tokens: input, output_tokens: output, context_window: context, cost } = usage
  const { cached_input_tokens: cached, reasoning_tokens: reasoning, prices_as_of: pricesAsOf } = usage
  const count = (value: number | undefined): string | null => value?.toLocaleString(locale) ?? null
  const rows = [
    [say('run.usage.input'), count(input)],
    [say('run.usage.cached'), count(cached)],
    [say('run.usage.output'), count(output)],
    [say('run.usage.reasoning'), count(reasoning)],
    [say('run.usage.window'), count(context)],
    [say('run.usage.cost'), cost?.toLocaleString(locale, { maximumFractionDigits: 6 }) ?? null],
    [say('run.usage.prices'), pricesAsOf ?? null],
  ] as const
  return (
    <Panel title={say('run.usage')}>
      <dl className="facts run-facts">
        {rows.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd className="figures-inline">{value}</dd>
              </div>
            ),
        )}
      </dl>
    </Panel>
  )
}
