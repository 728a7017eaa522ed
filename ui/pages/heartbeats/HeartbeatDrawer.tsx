import type { ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import type { HeartbeatView } from '../../../src/features/heartbeats/schema.ts'
import { api } from '../../api/client.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { heartbeatFields, inputOf, thingOf } from './heartbeat-form.ts'

const TOUCHES = [['heartbeat'], ['audit']]

interface HeartbeatDrawerProps {
  readonly agent: AgentView
  readonly heartbeat: HeartbeatView
  readonly close: () => void
}

/** The settings of the heartbeat of one agent, to be changed. */
export function HeartbeatDrawer({ agent, heartbeat, close }: HeartbeatDrawerProps): ReactNode {
  const say = useSay()
  return (
    <FormDrawer
      {...{ title: say('beats.edit', { name: agent.name }), fields: heartbeatFields, thing: thingOf(heartbeat) }}
      {...{ touches: TOUCHES, saved: say('beats.saved'), close }}
      save={(body) =>
        api.heartbeat.set(agent.id, inputOf(body), heartbeat.version === 0 ? {} : { ifMatch: heartbeat.version })
      }
    />
  )
}
