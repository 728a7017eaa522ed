import { Button, TextInput } from '@mantine/core'
import { IconHelpCircle } from '@tabler/icons-react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { api } from '../../api/client.ts'
import { ScheduleFilter } from '../../forms/ScheduleFilter.tsx'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Answer } from './Answer.tsx'
import { OWN_ZONE } from '../../time/zone.ts'
import { questionOf, type ExplainSearch } from './explain-search.ts'
import './explain-page.css'

const answerOf = (search: ExplainSearch) =>
  queryOptions({
    queryKey: ['explain', 'ask', search],
    queryFn: ({ signal }) => api.explain.ask(questionOf(search, OWN_ZONE), { signal }),
    enabled: search.q !== undefined,
    retry: false,
  })

/** "Why?": one field for an id or a time, and the answer below it. */
export function ExplainPage(): ReactNode {
  const say = useSay()
  const search = useSearch({ from: '/shell/automation/why' })
  const { data, error, isPending, refetch } = useQuery(answerOf(search))
  return (
    <>
      <PageHead title={say('explain.title')} lead={say('explain.lead')} />
      <Question key={`${search.q ?? ''} ${search.schedule ?? ''}`} search={search} />
      {search.q === undefined ? (
        <EmptyState
          title={say('explain.empty.title')}
          text={say('explain.empty.text')}
          icon={<IconHelpCircle size={28} aria-hidden />}
          command="escapement explain 09:00"
        />
      ) : data !== undefined ? (
        <Answer answer={data} />
      ) : isPending ? (
        <Lines count={6} />
      ) : (
        <ErrorState error={error} retry={() => void refetch()} />
      )}
    </>
  )
}

function Question({ search }: { readonly search: ExplainSearch }): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/automation/why' })
  const [asked, setAsked] = useState(search.q ?? '')
  const [schedule, setSchedule] = useState(search.schedule ?? '')
  return (
    <form
      className="why-question"
      onSubmit={(event) => {
        event.preventDefault()
        const of = schedule.trim()
        void navigate({ search: { q: asked.trim(), ...(of === '' ? {} : { schedule: of }) } })
      }}
    >
      <TextInput
        {...{ value: asked, autoFocus: true, required: true, className: 'why-what' }}
        label={say('explain.field')}
        description={say('explain.zone', { zone: OWN_ZONE.replaceAll('_', ' ') })}
        placeholder={say('explain.placeholder')}
        onChange={(event) => setAsked(event.currentTarget.value)}
      />
      <ScheduleFilter
        chosen={schedule === '' ? undefined : schedule}
        choose={(id) => setSchedule(id ?? '')}
        label={say('explain.schedule')}
      />
      <Button type="submit">{say('explain.ask')}</Button>
    </form>
  )
}
