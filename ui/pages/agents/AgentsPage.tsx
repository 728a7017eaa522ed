import { Button } from '@mantine/core'
import { IconPlus, IconRobot } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, type ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import { agentList } from '../../api/queries.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { Listing } from '../../table/Listing.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { useAgentColumns } from './agent-columns.tsx'
import { readAgentSearch } from './agent-search.ts'
import './agents.css'

// Loaded when it is opened: its fields are most of the code of the page.
const AgentDrawer = lazy(async () => ({ default: (await import('./AgentDrawer.tsx')).AgentDrawer }))

const NO_AGENTS: readonly never[] = []

/** Who does the work, and how. */
export function AgentsPage(): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/agents' })
  const { agent: open } = useSearch({ ...{ from: '/shell/agents', select: readAgentSearch, structuralSharing: true } })
  const list = useQuery(agentList)
  const rows = list.data?.items ?? NO_AGENTS
  const show = useCallback(
    (agent: string | null) => void navigate({ search: agent === null ? {} : { agent } }),
    [navigate],
  )
  const columns = useAgentColumns(show)
  const create = (
    <Permitted permission="agents:write">
      <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => show('new')}>
        {say('agents.new')}
      </Button>
    </Permitted>
  )
  return (
    <>
      <PageHead
        title={say('agents.title')}
        lead={list.data === undefined ? ' ' : say('agents.count', { count: rows.length })}
        actions={create}
      />
      <Panel className="agents">
        <Listing<AgentView>
          {...{ list, rows, columns, label: say('agents.title'), idOf: ({ id }) => id }}
          keys={{ e: ({ id }) => show(id) }}
          empty={
            <EmptyState
              icon={<IconRobot size={22} aria-hidden />}
              title={say('agents.empty.title')}
              text={say('agents.empty.text')}
              action={create}
            />
          }
        />
      </Panel>
      {open !== undefined && (
        <Suspense fallback={null}>
          <AgentDrawer key={open} id={open} close={() => show(null)} />
        </Suspense>
      )}
    </>
  )
}
