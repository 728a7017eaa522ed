import { Menu } from '@mantine/core'
import { IconCalendarTime, IconListDetails } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import { api } from '../../api/client.ts'
import { ThingMenu } from '../../forms/ThingMenu.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

const ICON = { size: 15, 'aria-hidden': true } as const

interface AgentActionsProps {
  readonly agent: AgentView
  readonly show: (id: string) => void
}

/** What can be done with an agent, and where its work is seen. */
export function AgentActions({ agent, show }: AgentActionsProps): ReactNode {
  const say = useSay()
  return (
    <ThingMenu
      row={agent}
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      show={show}
      permission="agents:write"
      touches={[['agents']]}
      more={({ id }) => <AgentDoors id={id} />}
      removal={{
        word: say('action.delete'),
        title: ({ name }) => say('agents.delete.title', { name }),
        text: say('agents.delete.text'),
        act: ({ id, version }) => api.agents.delete(id, { ifMatch: version }),
        done: ({ name }) => say('agents.deleted', { name }),
      }}
    />
  )
}

function AgentDoors({ id }: { readonly id: string }): ReactNode {
  const say = useSay()
  return (
    <>
      <Menu.Item
        leftSection={<IconListDetails {...ICON} />}
        renderRoot={(props) => <Link {...props} to="/automation/runs" search={{ agent_id: id }} />}
      >
        {say('agents.runs')}
      </Menu.Item>
      <Menu.Item
        leftSection={<IconCalendarTime {...ICON} />}
        renderRoot={(props) => <Link {...props} to="/automation/schedules" search={{ agent_id: id }} />}
      >
        {say('agents.schedules')}
      </Menu.Item>
    </>
  )
}
