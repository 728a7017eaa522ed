import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import {
  IconCopy,
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerTrackNext,
  IconTrash,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { useRunNow } from '../../api/run-now.ts'
import { useOpenEditor } from '../../editor/hooks/use-editor.ts'
import { Permitted } from '../../parts/Permitted.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { useBulk } from './use-bulk.ts'

/** What can be done with one schedule. */
export function RowActions({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const runNow = useRunNow()
  const bulk = useBulk()
  const open = useOpenEditor()
  const other = schedule.enabled ? 'disable' : 'enable'
  const Switch = schedule.enabled ? IconPlayerPause : IconPlayerPlay
  const icon = { size: 15, 'aria-hidden': true } as const
  return (
    <div className="row-actions">
      <Permitted permission="schedules:run" otherwise="hide">
        <Run name={say('action.runNow')} run={() => runNow(schedule)} />
      </Permitted>
      <Permitted permission="schedules:write" otherwise="hide">
        <Menu>
          <Menu.Target>
            <ActionIcon aria-label={`${say('action.more')}: ${schedule.name}`}>
              <IconDots size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconPencil {...icon} />} onClick={() => open({ edit: schedule.id })}>
              {say('one.edit')}
            </Menu.Item>
            <Menu.Item leftSection={<IconCopy {...icon} />} onClick={() => open({ edit: 'new', copy: schedule.id })}>
              {say('one.duplicate')}
            </Menu.Item>
            <Menu.Item leftSection={<Switch {...icon} />} onClick={() => bulk(other, [schedule])}>
              {say(`action.${other}`)}
            </Menu.Item>
            <Permitted permission="schedules:delete">
              <Menu.Item color="red" leftSection={<IconTrash {...icon} />} onClick={() => bulk('delete', [schedule])}>
                {say('action.delete')}
              </Menu.Item>
            </Permitted>
          </Menu.Dropdown>
        </Menu>
      </Permitted>
    </div>
  )
}

function Run({
  name,
  run,
}: {
  readonly name: string
  readonly run: () => void
  readonly disabled?: boolean
}): ReactNode {
  return (
    <Tooltip label={name}>
      <ActionIcon aria-label={name} onClick={run}>
        <IconPlayerTrackNext size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}
