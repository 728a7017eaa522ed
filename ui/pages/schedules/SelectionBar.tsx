import { Button, Modal } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import type { BulkAction } from '../../../src/features/schedules/views-schema.ts'
import { Permitted } from '../../parts/Permitted.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { useBulk } from './use-bulk.ts'

interface SelectionBarProps {
  readonly selected: readonly ScheduleView[]
  readonly clear: () => void
}

/** What can be done with everything that is selected, and with how many that is. */
export function SelectionBar({ selected, clear }: SelectionBarProps): ReactNode {
  const say = useSay()
  const bulk = useBulk()
  const [isAsking, setAsking] = useState(false)
  const count = selected.length
  const act = (action: BulkAction): void => {
    setAsking(false)
    clear()
    bulk(action, selected)
  }
  return (
    <div className="selection-bar" role="toolbar" aria-label={say('schedules.selected', { count })}>
      <strong>{say('schedules.selected', { count })}</strong>
      <Permitted permission="schedules:write">
        <Button variant="default" onClick={() => act('enable')}>
          {say('schedules.bulk.enable', { count })}
        </Button>
      </Permitted>
      <Permitted permission="schedules:write">
        <Button variant="default" onClick={() => act('disable')}>
          {say('schedules.bulk.disable', { count })}
        </Button>
      </Permitted>
      <Permitted permission="schedules:delete">
        <Button variant="default" className="danger" onClick={() => setAsking(true)}>
          {say('schedules.bulk.delete', { count })}
        </Button>
      </Permitted>
      <Button variant="subtle" color="gray" onClick={clear}>
        {say('action.clear')}
      </Button>
      <ConfirmDelete {...{ isAsking, selected }} cancel={() => setAsking(false)} confirm={() => act('delete')} />
    </div>
  )
}

interface ConfirmDeleteProps {
  readonly isAsking: boolean
  readonly selected: readonly ScheduleView[]
  readonly cancel: () => void
  readonly confirm: () => void
}

const MOST_NAMED = 5

function ConfirmDelete({ isAsking, selected, cancel, confirm }: ConfirmDeleteProps): ReactNode {
  const say = useSay()
  const count = selected.length
  return (
    <Modal
      {...{ opened: isAsking, onClose: cancel, title: say('schedules.bulk.deleteTitle', { count }) }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <ul className="named">
        {selected.slice(0, MOST_NAMED).map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
        {count > MOST_NAMED && (
          <li className="quiet">{say('schedules.bulk.andMore', { count: count - MOST_NAMED })}</li>
        )}
      </ul>
      <p>{say('schedules.bulk.deleteText')}</p>
      <div className="modal-foot">
        <Button variant="default" onClick={cancel}>
          {say('action.cancel')}
        </Button>
        <Button color="red" onClick={confirm}>
          {say('schedules.bulk.delete', { count })}
        </Button>
      </div>
    </Modal>
  )
}
