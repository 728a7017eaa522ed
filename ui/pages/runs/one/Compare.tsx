import { Button, TextInput } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode, type SubmitEvent } from 'react'
import type { DiffLine, RunComparison, RunDetail, RunView } from '../../../../src/features/runs/schema.ts'
import { api } from '../../../api/client.ts'
import { ErrorState } from '../../../parts/ErrorState.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { OutcomeMark } from '../../../parts/outcome/OutcomeMark.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { ShortId } from '../../../parts/ShortId.tsx'
import { useTexts } from '../../../texts/TextProvider.tsx'
import { spanText } from '../../../time/span.ts'
import './compare.css'

const comparisonOf = (id: string, other: string) =>
  queryOptions({
    // Below both runs only the first can stand; an ended run does not change.
    queryKey: ['runs', 'get', id, 'compare', other],
    queryFn: ({ signal }) => api.runs.compare({ id: other, other: id }, { signal }),
    retry: false,
  })

/** The run beside another one: that which it repeats, or any. The address says which. */
export function Compare({ run }: { readonly run: RunDetail }): ReactNode {
  const { say } = useTexts()
  const navigate = useNavigate({ from: '/automation/runs/$id' })
  const other = useSearch({ from: '/shell/automation/runs/$id', select: ({ compare }) => compare })
  const [typed, setTyped] = useState('')
  if (other === undefined) return null
  const show = (id: string | null): void =>
    void navigate({ search: id === null ? {} : { compare: id }, replace: true, resetScroll: false })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (typed.trim() !== '') show(typed.trim())
  }
  return (
    <Panel
      title={say('compare.title')}
      className="compare"
      aside={
        <form className="content-tools" onSubmit={submit}>
          <TextInput
            {...{ size: 'xs', value: typed, placeholder: 'run_…', 'aria-label': say('compare.other') }}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" size="xs" disabled={typed.trim() === ''}>
            {say('compare.choose')}
          </Button>
          <Button variant="subtle" color="gray" size="xs" onClick={() => show(null)}>
            {say('action.close')}
          </Button>
        </form>
      }
    >
      {other === '' ? <p className="panel-none">{say('compare.none')}</p> : <Comparison id={run.id} other={other} />}
    </Panel>
  )
}

function Comparison({ id, other }: { readonly id: string; readonly other: string }): ReactNode {
  const { say } = useTexts()
  const { data, error, refetch } = useQuery(comparisonOf(id, other))
  if (error !== null) return <ErrorState error={error} retry={() => void refetch()} />
  if (data === undefined) return <Lines count={4} />
  return (
    <>
      <Figures comparison={data} />
      <Diff title={say('run.input')} lines={data.payload} />
      <Diff title={say('run.output')} lines={data.output} />
    </>
  )
}

function Figures({ comparison: { a, b, changes } }: { readonly comparison: RunComparison }): ReactNode {
  const { say, locale } = useTexts()
  const number = (value: number): string => value.toLocaleString(locale, { maximumFractionDigits: 6 })
  const span = (ms: number): string => spanText(ms, say)
  const rows = [
    [say('compare.duration'), (run: RunView) => run.duration_ms, changes.duration_ms, span],
    [say('run.usage.input'), (run: RunView) => run.usage?.input_tokens ?? null, changes.input_tokens, number],
    [say('run.usage.output'), (run: RunView) => run.usage?.output_tokens ?? null, changes.output_tokens, number],
    [say('run.usage.cost'), (run: RunView) => run.usage?.cost ?? null, changes.cost, number],
    [say('run.fact.attempts'), (run: RunView) => run.attempt - run.first_attempt + 1, changes.attempts, number],
  ] as const
  const shown = (value: number | null, text: (value: number) => string): string => (value === null ? '–' : text(value))
  return (
    <table className="compare-figures">
      <thead>
        <tr>
          <td />
          {[a, b].map((run) => (
            <th key={run.id} scope="col">
              <OutcomeMark status={run.status} bare />{' '}
              <Link to="/automation/runs/$id" params={{ id: run.id }} className="door door-seen">
                <ShortId id={run.id} />
              </Link>
            </th>
          ))}
          <th scope="col">{say('compare.change')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, of, change, text]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{shown(of(a), text)}</td>
            <td>{shown(of(b), text)}</td>
            <td>{change === null || change === 0 ? '–' : `${change > 0 ? '+' : '−'}${text(Math.abs(change))}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const

function Diff({ title, lines }: { readonly title: string; readonly lines: readonly DiffLine[] }): ReactNode {
  const { say } = useTexts()
  const isSame = lines.every(({ change }) => change === 'same')
  return (
    <section className="compare-diff" aria-label={title}>
      <h3>{title}</h3>
      {isSame ? (
        <p className="quiet">{say('compare.same')}</p>
      ) : (
        <div className="compare-lines" tabIndex={0} role="region" aria-label={title}>
          {lines.map(({ change, text }, index) => (
            <div key={index} data-change={change}>
              <span aria-hidden>{SIGNS[change]}</span>
              {change !== 'same' && <span className="visually-hidden">{say(`compare.${change}`)}</span>}
              <span>{text}</span>
            </div>
          ))}
        </div>
      )}
    </section>
  )
}
