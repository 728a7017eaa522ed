import { Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import { api } from '../../api/client.ts'
import { agentOf } from '../../api/admin-queries.ts'
import { schedulePage } from '../../api/queries.ts'
import { changedOf } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { railsOf, withRails } from '../../forms/restriction-fields.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { agentFields } from './agent-fields.ts'
import { AllowAddress, ConnectAgent } from './ConnectAgent.tsx'

interface AgentDrawerProps {
  /** `new`, or the id of one there is. */
  readonly id: string
  readonly close: () => void
}

const TOUCHES = [['agents'], ['audit']]

/** The editor of an agent, new or not. */
export function AgentDrawer({ id, close }: AgentDrawerProps): ReactNode {
  const say = useSay()
  const { data, error, refetch } = useQuery({ ...agentOf(id), enabled: id !== 'new', gcTime: 0 })
  if (id === 'new') return <ConnectAgent close={close} />
  if (data !== undefined) return <EditAgent agent={data} close={close} />
  return (
    <Drawer opened onClose={close} position="right" closeButtonProps={{ 'aria-label': say('action.close') }}>
      {error === null ? <Lines count={8} height={30} /> : <ErrorState error={error} retry={() => void refetch()} />}
    </Drawer>
  )
}

function EditAgent({ agent, close }: { readonly agent: AgentView; readonly close: () => void }): ReactNode {
  const say = useSay()
  const { id, name, version } = agent
  return (
    <FormDrawer
      {...{ title: say('agents.edit', { name }), fields: agentFields(false), touches: TOUCHES, close }}
      thing={withRails('self_service', agent)}
      saved={say('agents.saved', { name })}
      remedy={(error, again) => <AllowAddress error={error} again={again} />}
      save={(body) => {
        const whole = {
          ...railsOf('self_service', body),
          ...{ description: body['description'] ?? '', retry_policy: body['retry_policy'] ?? null },
        }
        return api.agents.update(id, changedOf(whole, { ...agent }), { ifMatch: version })
      }}
    >
      <InUse id={id} />
    </FormDrawer>
  )
}

const NAMED = 5

/** What would miss the agent. */
function InUse({ id }: { readonly id: string }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const page = useQuery(schedulePage({ agent_id: id, limit: 100 })).data
  if (page === undefined) return <Lines count={2} />
  const rest = page.items.length - NAMED
  return (
    <section className="agent-use">
      <h3>{say('agents.use')}</h3>
      {page.items.length === 0 ? (
        <p className="quiet">{say('agents.useNone')}</p>
      ) : (
        <>
          <p>{say('agents.useSchedules', { count: page.items.length })}</p>
          <ul>
            {page.items.slice(0, NAMED).map((schedule) => (
              <li key={schedule.id}>
                <Door to={doors.schedule(schedule.id)}>{schedule.name}</Door>
              </li>
            ))}
            {rest > 0 && <li className="quiet">{say('agents.useMore', { count: rest })}</li>}
          </ul>
        </>
      )}
    </section>
  )
}
