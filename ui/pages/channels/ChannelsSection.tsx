import { Button, Menu } from '@mantine/core'
import { IconMessages, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ChannelInput, ChannelView } from '../../../src/features/channels/schema.ts'
import { channelList } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { agentList } from '../../api/queries.ts'
import { useAct } from '../../api/use-act.ts'
import { changedOf } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { channelFields } from './channel-fields.ts'
import { ThingList } from '../../forms/ThingList.tsx'
import { useOpen } from '../../forms/use-open.ts'

const NONE: readonly ChannelView[] = []
const TOUCHES = [['channels']]

/** Where messages come from besides the API, and how each fares. */
export function ChannelsSection(): ReactNode {
  const say = useSay()
  const list = useQuery(channelList)
  const agents = (useQuery(agentList).data?.items ?? []).map(({ id, name }) => ({ value: id, name }))
  const { open, show } = useOpen()
  const rows = list.data?.items ?? NONE
  const edited = rows.find(({ id }) => id === open)
  const form = { touches: TOUCHES, saved: say('channels.saved'), close: () => show(null) }
  return (
    <>
      <ThingList<ChannelView>
        {...{ title: say('settings.channels'), hint: say('channels.hint'), list, rows, show, touches: TOUCHES }}
        {...{ columns: useColumns(), idOf: ({ id }) => id, nameOf: ({ name }) => name }}
        {...{ permission: 'agents:write', create: say('channels.new') }}
        empty={{
          ...{ icon: <IconMessages size={22} aria-hidden />, title: say('channels.empty.title') },
          text: say('channels.empty.text'),
        }}
        removal={{
          word: say('action.delete'),
          title: ({ name }) => say('channels.delete.title', { name }),
          text: say('channels.delete.text'),
          act: ({ id }) => api.channels.delete(id),
          done: ({ name }) => say('channels.deleted', { name }),
        }}
        more={(channel) => <Switch channel={channel} />}
      />
      {open === 'new' && (
        <FormDrawer
          {...{ ...form, title: say('channels.new'), fields: channelFields(true, agents) }}
          thing={{ kind: 'telegram', mode: 'polling' }}
          save={(body) => api.channels.create(body as unknown as ChannelInput)}
        />
      )}
      {edited !== undefined && (
        <FormDrawer
          {...{ ...form, key: edited.id, title: edited.name, fields: channelFields(false, agents), thing: edited }}
          save={(body) => api.channels.update(edited.id, changedOf(body, { ...edited }))}
        />
      )}
    </>
  )
}

interface ChannelProps {
  readonly channel: ChannelView
}

function Switch({ channel: { id, name, enabled } }: ChannelProps): ReactNode {
  const say = useSay()
  const flip = useAct({
    act: () => (enabled ? api.channels.disable(id) : api.channels.enable(id)),
    touches: [...TOUCHES, ['audit']],
    told: () => ({ tone: 'done', message: say(enabled ? 'channels.off' : 'channels.on', { name }) }),
  })
  const Icon = enabled ? IconPlayerPause : IconPlayerPlay
  return (
    <Permitted permission="agents:write">
      <Menu.Item leftSection={<Icon size={15} aria-hidden />} onClick={() => flip.run(undefined)}>
        {say(enabled ? 'action.disable' : 'action.enable')}
      </Menu.Item>
    </Permitted>
  )
}

function TestButton({ channel: { id, name } }: ChannelProps): ReactNode {
  const say = useSay()
  const test = useAct({
    act: () => api.channels.test(id),
    touches: TOUCHES,
    told: ({ ok, username, message, status_code: code }) => ({
      tone: ok ? 'done' : 'failed',
      message: ok
        ? say('channels.tested', { name, who: username ?? name })
        : say('channels.testFailed', { name, why: message ?? String(code ?? '') }),
    }),
  })
  return (
    <Permitted permission="agents:write">
      <Button {...{ variant: 'default', loading: test.isPending }} onClick={() => test.run(undefined)}>
        {say('targets.test')}
      </Button>
    </Permitted>
  )
}

function useColumns(): readonly Column<ChannelView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'name', width: 'minmax(170px, 2fr)', header: say('channels.name') },
      cell: ({ name, kind, username, hook_path: path }) => (
        <div>
          <div className="thing-name">
            {name} <span className="tag">{kind}</span> {username !== null && <span className="quiet">@{username}</span>}
          </div>
          <div className="quiet small secret-name">
            <span className="one-line">{path}</span>
            <Copyable text={location.origin + path} name={name} />
          </div>
        </div>
      ),
    },
    {
      ...{ id: 'agent', width: 'minmax(100px, 1fr)', header: say('channels.agent'), cardLabel: say('channels.agent') },
      cell: ({ agent_id: agent }) => agent,
    },
    {
      ...{ id: 'state', width: 'minmax(130px, 1.4fr)', header: say('targets.state') },
      cell: ({ enabled, failure, last_failed_at: at }) => (
        <div>
          {enabled ? say('targets.isOn') : <span className="late-text">{say('channels.isOff')}</span>}
          {failure !== null && <div className="failure-text small">{failure}</div>}
          {failure !== null && at !== null && (
            <div className="quiet small">
              <Time at={at} />
            </div>
          )}
        </div>
      ),
    },
    {
      ...{ id: 'heard', width: '110px', header: say('channels.heard'), cardLabel: say('channels.heard') },
      cell: ({ last_heard_at: at }) => (at === null ? <span className="quiet">{say('never')}</span> : <Time at={at} />),
    },
    {
      ...{ id: 'test', width: '74px', header: <span className="visually-hidden">{say('targets.test')}</span> },
      cell: (channel) => <TestButton channel={channel} />,
    },
  ]
}
