import { ActionIcon, Button, Menu, Switch } from '@mantine/core'
import {
  IconBolt,
  IconCopy,
  IconDots,
  IconPencil,
  IconPlayerSkipBack,
  IconTimelineEventText,
  IconTrash,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { useRunNow } from '../../../api/run-now.ts'
import { useOpenEditor } from '../../../editor/hooks/use-editor.ts'
import { Confirm } from '../../../forms/Confirm.tsx'
import { Permitted } from '../../../parts/Permitted.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { useBulk } from '../use-bulk.ts'

const ICON = { size: 15, 'aria-hidden': true } as const

/** On or off, run it now, change it, copy it, delete it. */
export function HeadActions({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const runNow = useRunNow()
  const open = useOpenEditor()
  const bulk = useBulk()
  const isPending = schedule.state === 'pending_approval'
  return (
    <>
      <Permitted permission="schedules:write">
        <Switch
          {...{
            checked: schedule.enabled,
            size: 'sm',
            label: say(schedule.enabled ? 'one.on' : 'one.off'),
            className: 'one-switch',
          }}
          disabled={isPending}
          onChange={() => bulk(schedule.enabled ? 'disable' : 'enable', [schedule])}
        />
      </Permitted>
      <Permitted permission="schedules:run">
        <Button
          {...{ variant: 'default', leftSection: <IconBolt {...ICON} />, disabled: isPending }}
          onClick={() => runNow(schedule)}
        >
          {say('action.runNow')}
        </Button>
      </Permitted>
      <Permitted permission="schedules:write">
        <Button leftSection={<IconPencil {...ICON} />} onClick={() => open({ edit: schedule.id })}>
          {say('one.edit')}
        </Button>
      </Permitted>
      <More schedule={schedule} />
    </>
  )
}

function More({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const open = useOpenEditor()
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={say('action.more')}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconTimelineEventText {...ICON} />}
            onClick={() => void navigate({ to: '/automation/simulate', search: { ids: schedule.id } })}
          >
            {say('sim.open')}
          </Menu.Item>
          <Permitted permission="schedules:run">
            <Menu.Item
              {...{ leftSection: <IconPlayerSkipBack {...ICON} />, disabled: schedule.state === 'pending_approval' }}
              onClick={() =>
                void navigate({
                  ...{ to: '/automation/schedules/$id', params: { id: schedule.id } },
                  search: { tab: 'backfills', backfill: 'new' },
                })
              }
            >
              {say('backfill.open')}
            </Menu.Item>
          </Permitted>
          <Permitted permission="schedules:write">
            <Menu.Item leftSection={<IconCopy {...ICON} />} onClick={() => open({ edit: 'new', copy: schedule.id })}>
              {say('one.duplicate')}
            </Menu.Item>
          </Permitted>
          <Permitted permission="schedules:delete">
            <Menu.Item color="red" leftSection={<IconTrash {...ICON} />} onClick={() => setAsking(true)}>
              {say('action.delete')}
            </Menu.Item>
          </Permitted>
        </Menu.Dropdown>
      </Menu>
      {isAsking && <AskDelete schedule={schedule} close={() => setAsking(false)} />}
    </>
  )
}

interface AskDeleteProps {
  readonly schedule: ScheduleView
  readonly close: () => void
}

/** Names what will go; it can still be taken back from the list. */
function AskDelete({ schedule, close }: AskDeleteProps): ReactNode {
  const say = useSay()
  const bulk = useBulk()
  const navigate = useNavigate()
  const remove = (): void => {
    bulk('delete', [schedule])
    void navigate({ to: '/automation/schedules', search: {} })
  }
  return (
    <Confirm
      {...{ title: say('one.delete', { name: schedule.name }), text: say('schedules.bulk.deleteText') }}
      {...{ word: say('action.delete'), confirm: remove, cancel: close }}
    />
  )
}
