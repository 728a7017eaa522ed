import { Button } from '@mantine/core'
import { IconMessagePlus, IconMessages } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { NewConversation } from './NewConversation.tsx'
import { sessionList } from './queries.ts'
import { SessionList } from './SessionList.tsx'
import { useBegin } from './use-begin.ts'
import './chat.css'

/** The conversations there are, and a place to begin one. */
export function ChatPage(): ReactNode {
  const say = useSay()
  const { data } = useInfiniteQuery(sessionList)
  const isEmpty = data?.pages[0]?.items.length === 0
  return (
    <>
      <PageHead title={say('chat.title')} actions={<Begin />} />
      <div className="chat" data-only={isEmpty ? 'talk' : 'list'}>
        {!isEmpty && <SessionList mayBegin={false} />}
        <Panel className="talk">
          <EmptyState
            icon={<IconMessages size={22} aria-hidden />}
            title={say(isEmpty ? 'chat.empty.title' : 'chat.choose.title')}
            text={say(isEmpty ? 'chat.empty.text' : 'chat.choose.text')}
          />
        </Panel>
      </div>
      <NewConversation />
    </>
  )
}

function Begin(): ReactNode {
  const say = useSay()
  const { open } = useBegin()
  return (
    <Permitted permission="sessions:write">
      <Button leftSection={<IconMessagePlus size={15} aria-hidden />} onClick={open}>
        {say('chat.new')}
      </Button>
    </Permitted>
  )
}
