import { Button, Modal } from '@mantine/core'
import {
  IconArrowsDiff,
  IconCalendarPlus,
  IconEdit,
  IconMessage,
  IconPlayerStop,
  IconRefresh,
} from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { useAgentName, useScheduleName } from '../../../api/names.ts'
import { isPending, retryPermission, useCancel, useRetry } from '../../../api/run-actions.ts'
import { useOpenEditor } from '../../../editor/hooks/use-editor.ts'
import { Door } from '../../../parts/Door.tsx'
import { useDoors } from '../../../parts/doors.ts'
import { OutcomeMark } from '../../../parts/outcome/OutcomeMark.tsx'
import { PageHead } from '../../../parts/PageHead.tsx'
import { Permitted } from '../../../parts/Permitted.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { useNow } from '../../../time/clock.ts'
import { Time } from '../../../time/Time.tsx'
import { headlineOf } from './headline.ts'
import { wordsOf } from '../run-row.ts'

// Few look at a run to change it: the form is loaded when it is opened.
const RunAgain = lazy(async () => ({ default: (await import('./RunAgain.tsx')).RunAgain }))

interface RunHeadProps {
  readonly run: RunDetail
}

/** How the run stands, what it is about, and what can be done with it. */
export function RunHead({ run }: RunHeadProps): ReactNode {
  const say = useSay()
  const now = useNow()
  return <PageHead title={headlineOf(run, now, say)} lead={<Lead run={run} />} actions={<Actions run={run} />} />
}

function Lead({ run }: RunHeadProps): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const agent = useAgentName(run.agent_id)
  const name = useScheduleName(run.schedule_id)
  const words = wordsOf(run.payload)
  return (
    <div className="run-lead">
      <OutcomeMark status={run.status} bare />
      {run.schedule_id !== null ? (
        <Door to={name === null ? undefined : doors.schedule(run.schedule_id)} className="door door-seen run-lead-name">
          {name ?? say('runs.gone')}
        </Door>
      ) : (
        words !== null && <span className="run-lead-name">{words}</span>
      )}
      <span className="quiet">{say('run.about', { trigger: say(`trigger.${run.trigger}`), agent })}</span>
      <span className="quiet">
        <Time at={run.created_at} />
      </span>
    </div>
  )
}

function Actions({ run }: RunHeadProps): ReactNode {
  const say = useSay()
  const navigate = useNavigate()
  const openEditor = useOpenEditor()
  const retry = useRetry()
  const [isAsking, setAsking] = useState(false)
  const [isEditing, setEditing] = useState(false)
  const again = (): void =>
    retry.mutate(
      { id: run.id, status: run.status },
      { onSuccess: ({ id }) => void navigate({ to: '/automation/runs/$id', params: { id } }) },
    )
  return (
    <>
      <ToConversation run={run} />
      <Permitted permission="schedules:write">
        <Button
          variant="default"
          leftSection={<IconCalendarPlus size={15} aria-hidden />}
          onClick={() => openEditor({ edit: 'new', draft: run.id })}
        >
          {say('run.toSchedule')}
        </Button>
      </Permitted>
      {isPending(run) ? (
        <Permitted permission="runs:write">
          <Button
            {...{ variant: 'default', className: 'run-danger', disabled: run.status === 'stopping' }}
            leftSection={<IconPlayerStop size={15} aria-hidden />}
            onClick={() => setAsking(true)}
          >
            {say('run.cancel')}
          </Button>
        </Permitted>
      ) : (
        <>
          <ToComparison run={run} />
          <Permitted permission={run.schedule_id === null ? 'runs:write' : 'schedules:write'}>
            <Button
              {...{ variant: 'default', leftSection: <IconEdit size={15} aria-hidden /> }}
              onClick={() => setEditing(true)}
            >
              {say('again.open')}
            </Button>
          </Permitted>
          <Permitted permission={retryPermission(run)}>
            <Button leftSection={<IconRefresh size={15} aria-hidden />} loading={retry.isPending} onClick={again}>
              {say(run.status === 'success' ? 'run.again' : 'run.retry')}
            </Button>
          </Permitted>
          <Suspense fallback={null}>
            {isEditing && <RunAgain {...{ run, isOpen: true, close: () => setEditing(false) }} />}
          </Suspense>
        </>
      )}
      <ConfirmCancel run={run} isAsking={isAsking && isPending(run)} close={() => setAsking(false)} />
    </>
  )
}

/** Beside the run it repeats, or one that is still to be chosen. */
function ToComparison({ run }: RunHeadProps): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/automation/runs/$id' })
  const open = (): void => void navigate({ search: { compare: run.retry_of ?? '' }, replace: true, resetScroll: false })
  return (
    <Button variant="default" leftSection={<IconArrowsDiff size={15} aria-hidden />} onClick={open}>
      {say('compare.open')}
    </Button>
  )
}

/** The way to what was said, where the run has a conversation. */
function ToConversation({ run }: RunHeadProps): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const to = run.conversation === null ? undefined : doors.session(run.conversation)
  if (to === undefined) return null
  return (
    <Button component={Link} {...{ to, variant: 'default' }} leftSection={<IconMessage size={15} aria-hidden />}>
      {say('one.toSession')}
    </Button>
  )
}

interface ConfirmCancelProps extends RunHeadProps {
  readonly isAsking: boolean
  readonly close: () => void
}

function ConfirmCancel({ run, isAsking, close }: ConfirmCancelProps): ReactNode {
  const say = useSay()
  const cancel = useCancel()
  const name = useScheduleName(run.schedule_id) ?? wordsOf(run.payload) ?? run.id
  return (
    <Modal
      {...{ opened: isAsking, onClose: close, title: say('run.cancelTitle', { name }) }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <p>{say('run.cancelText')}</p>
      <div className="modal-foot">
        <Button variant="default" onClick={close}>
          {say('run.keep')}
        </Button>
        <Button
          color="red"
          loading={cancel.isPending}
          onClick={() => cancel.mutate(run, { onSettled: close })}
          data-autofocus
        >
          {say('run.cancel')}
        </Button>
      </div>
    </Modal>
  )
}
