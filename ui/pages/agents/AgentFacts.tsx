import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import { budgetList, heartbeatOf } from '../../api/admin-queries.ts'
import { statsOf } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Panel } from '../../parts/Panel.tsx'
import { useTexts } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import { Time } from '../../time/Time.tsx'

const SECOND_MS = 1_000

/** What limits an agent, and what wakes it besides schedules and messages. */
export function AgentFacts({ agent }: { readonly agent: AgentView }): ReactNode {
  const { say, locale } = useTexts()
  const { id, max_concurrent: most, timeout_seconds: timeout, provider, context_window: context } = agent
  const work = useQuery(statsOf()).data?.agents.find(({ agent_id: one }) => one === id)
  const number = (value: number): string => value.toLocaleString(locale)
  return (
    <Panel title={say('agents.facts')}>
      <dl className="agent-facts">
        <Fact name={say('agents.col.work')}>{work === undefined ? say('agents.idle') : say('agents.work', work)}</Fact>
        <Fact name={say('agents.heartbeat')}>
          <Beat id={id} />
        </Fact>
        <Fact name={say('agents.budget')}>
          <Budgets id={id} />
        </Fact>
        <Fact name={say('agents.maxConcurrent')}>{most === null ? say('form.none') : number(most)}</Fact>
        <Fact name={say('agents.timeoutName')}>
          {timeout === null ? say('form.default') : spanText(timeout * SECOND_MS, say)}
        </Fact>
        <Fact name={say('agents.provider')}>{provider ?? say('none')}</Fact>
        <Fact name={say('agents.contextWindow')}>{context === null ? say('form.default') : number(context)}</Fact>
      </dl>
    </Panel>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="agent-fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Beat({ id }: { readonly id: string }): ReactNode {
  const { say } = useTexts()
  const { data } = useQuery(heartbeatOf(id))
  if (data === undefined) return null
  const { enabled, current_interval_seconds: interval, next_at: next, no_route: noRoute } = data
  return (
    <>
      <Link to="/agents/heartbeats" search={{ agent: id }} className="door">
        {enabled ? say('agents.beats', { span: spanText(interval * SECOND_MS, say) }) : say('agents.noBeat')}
      </Link>
      {next !== null && (
        <>
          {' '}
          · <Time at={next} />
        </>
      )}
      {enabled && noRoute !== null && <div className="bad small">{noRoute}</div>}
    </>
  )
}

function Budgets({ id }: { readonly id: string }): ReactNode {
  const { say, locale } = useTexts()
  const may = useMay('budgets:read')
  const budgets = useQuery({ ...budgetList, enabled: may }).data?.items.filter(
    ({ scope, agent_id: agent }) => scope === 'org' || agent === id,
  )
  if (budgets === undefined) return null
  if (budgets.length === 0) return say('agents.noBudget')
  const text = (value: number): string => value.toLocaleString(locale, { maximumFractionDigits: 6 })
  return budgets.map(({ id: budget, scope, spent, amount, unit, period, alerts }) => (
    <div key={budget} {...(alerts.length > 0 ? { className: 'bad' } : {})}>
      <Link to="/settings/$section" params={{ section: 'limits' }} search={{}} className="door">
        {say('agents.budgetUse', {
          ...{ spent: text(spent), amount: text(amount), unit: say(`budgets.unit.${unit}`) },
          period: say(`budgets.period.${period}`),
        })}
      </Link>
      {scope === 'org' && <span className="quiet"> · {say('agents.budgetOrg')}</span>}
    </div>
  ))
}
