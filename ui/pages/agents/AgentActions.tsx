import { ActionIcon, Menu } from '@mantine/core'
import { IconCalendarTime, IconDots, IconListDetails, IconPencil, IconTrash } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { AgentView } from '../../../src/contract/agent.ts'
import { api } from '../../api/client.ts'
import { useAct } from '../../api/use-act.ts'
import { Confirm } from '../../forms/Confirm.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

const ICON = { size: 15, 'aria-hidden': true } as const

interface AgentActionsProps {
  readonly agent: AgentView
  readonly show: (id: string) => void
}

/** What can be done with an agent, and where its work is seen. */
export function AgentActions({ agent, show }: AgentActionsProps): ReactNode {
  const say = useSay()
  const [isAsking, setAsking] = useState(false)
  const { id, name, version } = agent
  const remove = useAct({
    act: () => api.agents.delete(id, { ifMatch: version }),
    touches: [['agents'], ['audit']],
    told: () => ({ tone: 'done', message: say('agents.deleted', { name }) }),
  })
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon aria-label={`${say('action.more')}: ${name}`}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Permitted permission="agents:write">
            <Menu.Item leftSection={<IconPencil {...ICON} />} onClick={() => show(id)}>
              {say('form.edit')}
            </Menu.Item>
          </Permitted>
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
          <Permitted permission="agents:write">
            <Menu.Item color="red" leftSection={<IconTrash {...ICON} />} onClick={() => setAsking(true)}>
              {say('action.delete')}
            </Menu.Item>
          </Permitted>
        </Menu.Dropdown>
      </Menu>
      {isAsking && (
        <Confirm
          {...{ title: say('agents.delete.title', { name }), text: say('agents.delete.text') }}
          {...{ word: say('action.delete'), confirm: () => remove.run(undefined), cancel: () => setAsking(false) }}
        />
      )}
    </>
  )
}
