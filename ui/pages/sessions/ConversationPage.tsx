import { Anchor } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAgentName } from '../../api/names.ts'
import { isPending } from '../../api/run-actions.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Composer } from './Composer.tsx'
import { Messages } from './Messages.tsx'
import { NewConversation } from './NewConversation.tsx'
import { messagesOf, sessionOf } from './queries.ts'
import { nameOfSession } from '../../parts/session-name.ts'
import { SessionList } from './SessionList.tsx'
import { StopButtons } from './StopButtons.tsx'
import { useSend } from './use-send.ts'
import './chat.css'

/** One conversation beside the others. */
export function ConversationPage(): ReactNode {
  const { key } = useParams({ from: '/shell/chat/$key' })
  return (
    <>
      <div className="chat" data-only="talk">
        <SessionList />
        <Conversation key={key} sessionKey={key} />
      </div>
      <NewConversation />
    </>
  )
}

interface ConversationProps {
  readonly sessionKey: string
}

function Conversation({ sessionKey }: ConversationProps): ReactNode {
  const list = useInfiniteQuery(messagesOf(sessionKey))
  const { data: session } = useQuery(sessionOf(sessionKey))
  const send = useSend(sessionKey)
  const messages = (list.data?.pages ?? []).flatMap(({ items }) => items).reverse()
  const pending = messages.filter(isPending)
  const waiting = pending.filter(({ status }) => status === 'waiting' || status === 'queued')
  const counts = countsOf(list.hasNextPage ? session : null, {
    active: pending.length - waiting.length,
    waiting: waiting.length,
  })
  return (
    <Panel className="talk">
      <Head sessionKey={sessionKey} {...counts} />
      {list.isPending ? (
        <Lines count={6} height={24} />
      ) : list.error !== null && messages.length === 0 ? (
        <ErrorState error={list.error} retry={() => void list.refetch()} />
      ) : (
        <Messages
          {...{ messages, sending: send.sending }}
          {...(list.hasNextPage ? { older: () => void list.fetchNextPage() } : {})}
        />
      )}
      <Composer send={send.send} />
    </Panel>
  )
}

interface Counts {
  readonly active: number
  readonly waiting: number
}

/** What is shown says best what goes on; of what is not shown the session knows. */
const countsOf = (session: Counts | null | undefined, shown: Counts): Counts => ({
  active: Math.max(session?.active ?? 0, shown.active),
  waiting: Math.max(session?.waiting ?? 0, shown.waiting),
})

interface HeadProps extends ConversationProps, Counts {}

function Head({ sessionKey, active, waiting }: HeadProps): ReactNode {
  const say = useSay()
  const { agent, name } = nameOfSession(sessionKey)
  const agentName = useAgentName(agent ?? '')
  return (
    <div className="talk-head">
      <Anchor component={Link} to="/chat" className="talk-back" aria-label={say('chat.back')}>
        <IconArrowLeft size={16} aria-hidden />
      </Anchor>
      <PageHead
        title={agent === null ? name : agentName}
        lead={
          <span className="talk-lead">
            {agent !== null && name !== '' && <span className="talk-key">{name}</span>}
            <Link to="/automation/runs" search={{ session: sessionKey }} className="door door-seen">
              {say('chat.runs')}
            </Link>
            {active > 0 && <span className="chip chip-active">{say('chat.running', { count: active })}</span>}
            {waiting > 0 && <span className="chip">{say('chat.waiting', { count: waiting })}</span>}
          </span>
        }
        {...(active + waiting > 0 ? { actions: <StopButtons sessionKey={sessionKey} /> } : {})}
      />
    </div>
  )
}
