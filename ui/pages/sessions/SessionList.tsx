import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconMessagePlus, IconPlayerPlayFilled } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunView } from '../../../src/features/runs/schema.ts'
import type { SessionView } from '../../../src/features/sessions/schema.ts'
import { useAgentName } from '../../api/names.ts'
import { runPage } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { sessionList } from './queries.ts'
import { nameOfSession } from '../../parts/session-name.ts'
import { useBegin } from './use-begin.ts'

const LATEST = 100

/** The conversations, those first in which something was said last. */
export function SessionList({ mayBegin = true }: { readonly mayBegin?: boolean }): ReactNode {
  const say = useSay()
  const { open } = useBegin()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(sessionList)
  const latest = useLatest()
  const sessions = (data?.pages ?? [])
    .flatMap(({ items }) => items)
    .map((session) => ({ session, last: latest.get(session.key) }))
    .sort((a, b) => (lastAt(a) < lastAt(b) ? 1 : -1))
  return (
    <Panel
      title={say('chat.sessions')}
      className="talks"
      aside={
        mayBegin && (
          <Permitted permission="sessions:write">
            <ActionIcon aria-label={say('chat.new')} title={say('chat.new')} onClick={open}>
              <IconMessagePlus size={16} aria-hidden />
            </ActionIcon>
          </Permitted>
        )
      }
    >
      {error !== null && data === undefined ? (
        <ErrorState error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Lines count={6} height={28} />
      ) : (
        <nav className="talks-list" aria-label={say('chat.sessions')}>
          {sessions.map(({ session, last }) => (
            <Talk key={session.key} session={session} last={last} />
          ))}
          {hasNextPage && (
            <Button variant="subtle" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              {say('chat.moreSessions')}
            </Button>
          )}
        </nav>
      )}
    </Panel>
  )
}

interface Listed {
  readonly session: SessionView
  /** The last message, when it is among the latest of all. */
  readonly last: RunView | undefined
}

const lastAt = ({ session, last }: Listed): string => last?.created_at ?? session.created_at

/** The last message of each conversation in which something was said lately: one request for all of them. */
function useLatest(): ReadonlyMap<string, RunView> {
  const { data } = useQuery({ ...runPage({ trigger: 'message', limit: LATEST }), enabled: useMay('runs:read') })
  const latest = new Map<string, RunView>()
  for (const run of data?.items ?? [])
    if (run.session_key !== null && !latest.has(run.session_key)) latest.set(run.session_key, run)
  return latest
}

function Talk({ session, last }: Listed): ReactNode {
  const say = useSay()
  const { agent, name } = nameOfSession(session.key)
  const agentName = useAgentName(agent ?? '')
  const { active, waiting } = session
  return (
    <Link to="/chat/$key" params={{ key: session.key }} className="talk-link" title={session.key}>
      <span className="talk-name">
        {agent === null ? name : agentName}
        {agent !== null && name !== '' && <span className="quiet"> {name}</span>}
      </span>
      <span className="talk-when">
        <Time at={lastAt({ session, last })} />
      </span>
      <span className="talk-words">{textOf(last) ?? say('chat.justNow')}</span>
      {active + waiting > 0 && (
        <Tooltip label={`${say('chat.running', { count: active })} · ${say('chat.waiting', { count: waiting })}`}>
          <span className="talk-busy">
            <IconPlayerPlayFilled size={10} aria-hidden />
            {active + waiting}
          </span>
        </Tooltip>
      )}
    </Link>
  )
}

function textOf(run: RunView | undefined): string | null {
  const payload = run?.payload
  if (typeof payload !== 'object' || payload === null || !('text' in payload)) return null
  return typeof payload.text === 'string' && payload.text !== '' ? payload.text : null
}
