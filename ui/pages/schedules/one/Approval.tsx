import { Alert, Button, Modal, Textarea, Tooltip } from '@mantine/core'
import { IconUserCheck, IconUserX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { ApprovalView, ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { api } from '../../../api/client.ts'
import { keyList } from '../../../api/admin-queries.ts'
import { useMay, useMe } from '../../../api/session.ts'
import { useAct } from '../../../api/use-act.ts'
import { useAgentName } from '../../../api/names.ts'
import { ShortId } from '../../../parts/ShortId.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { Time } from '../../../time/Time.tsx'

interface ApprovalProps {
  readonly schedule: ScheduleView
  readonly approval: ApprovalView
}

const ICON = { size: 18, 'aria-hidden': true } as const
const touchesOf = (id: string) => [['schedules', 'get', id], ['schedules', 'list'], ['audit']]

/** What was proposed, by whom, and what a person says to it. */
export function Approval({ schedule, approval }: ApprovalProps): ReactNode {
  const say = useSay()
  const who = useWho(approval.requested_by)
  const { rejected, changes, run_id: run } = approval
  if (rejected !== null) return <Rejected rejected={rejected} />
  return (
    <Alert
      {...{ icon: <IconUserCheck {...ICON} />, className: 'approval', role: 'region' }}
      title={say(changes === null ? 'approval.new' : 'approval.change', { who })}
    >
      <p className="approval-facts">
        <Time at={approval.requested_at} />
        {run !== null && (
          <>
            {' · '}
            {say('approval.inRun')}{' '}
            <Link to="/automation/runs/$id" params={{ id: run }} className="door door-seen">
              <ShortId id={run} />
            </Link>
          </>
        )}
      </p>
      <p>{say(changes === null ? 'approval.newText' : 'approval.changeText')}</p>
      {changes !== null && <Changes changes={changes} />}
      <Answers schedule={schedule} />
    </Alert>
  )
}

function Rejected({ rejected }: { readonly rejected: NonNullable<ApprovalView['rejected']> }): ReactNode {
  const say = useSay()
  const { by, reason, at } = rejected
  const who = useWho(by)
  return (
    <Alert
      {...{ color: 'gray', icon: <IconUserX {...ICON} />, className: 'approval' }}
      title={reason === '' ? say('approval.rejectedPlain', { who }) : say('approval.rejected', { who, reason })}
    >
      <Time at={at} />
    </Alert>
  )
}

/** Who that was: an agent, or the holder of a key, by the name it was given. */
function useWho(by: string): string {
  const say = useSay()
  const agent = by.startsWith('agent:') ? by.slice('agent:'.length) : ''
  const name = useAgentName(agent)
  const keys = useQuery({ ...keyList, enabled: useMay('keys:read') && agent === '' }).data?.items ?? []
  if (agent !== '') return say('approval.agent', { name })
  const key = keys.find(({ id }) => id === by)
  return key === undefined ? by : say('approval.key', { name: key.name })
}

type Changed = NonNullable<ApprovalView['changes']>

/** What would be different, field by field. */
function Changes({ changes }: { readonly changes: Changed }): ReactNode {
  const say = useSay()
  return (
    <table className="approval-changes">
      <thead>
        <tr>
          <th scope="col">{say('approval.field')}</th>
          <th scope="col">{say('approval.before')}</th>
          <th scope="col">{say('approval.after')}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(changes).map(([field, { before, after }]) => (
          <tr key={field}>
            <th scope="row">
              <code>{field}</code>
            </th>
            <td data-label={say('approval.before')}>
              <Shown value={before} />
            </td>
            <td data-label={say('approval.after')}>
              <Shown value={after} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** What an agent is told is read as a text; everything else as it is. */
function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value
  const { prompt, ...rest } = value as Readonly<Record<string, unknown>>
  return typeof prompt === 'string' && Object.keys(rest).length === 0 ? prompt : JSON.stringify(value)
}

function Shown({ value }: { readonly value: unknown }): ReactNode {
  const say = useSay()
  if (value == null) return <span className="quiet">{say('approval.none')}</span>
  return <code>{wordsOf(value)}</code>
}

/** Approve exactly what is on screen, or reject it with a reason; both name the schedule before they are done. */
function Answers({ schedule }: Pick<ApprovalProps, 'schedule'>): ReactNode {
  const say = useSay()
  const [asking, setAsking] = useState<'approve' | 'reject' | null>(null)
  const role = useMe()?.role
  const may = useMay('schedules:write') && (role === 'owner' || role === 'admin')
  const close = (): void => setAsking(null)
  const buttons = (
    <div className="approval-actions">
      <Button disabled={!may} onClick={() => setAsking('approve')}>
        {say('approval.approve')}
      </Button>
      <Button variant="default" disabled={!may} onClick={() => setAsking('reject')}>
        {say('approval.reject')}
      </Button>
    </div>
  )
  return (
    <>
      {may ? (
        buttons
      ) : (
        <Tooltip label={say('approval.onlyAdmins')}>
          <span tabIndex={0} className="refused">
            {buttons}
          </span>
        </Tooltip>
      )}
      {asking === 'approve' && <AskApprove {...{ schedule, close }} />}
      {asking === 'reject' && <AskReject {...{ schedule, close }} />}
    </>
  )
}

interface AskProps {
  readonly schedule: ScheduleView
  readonly close: () => void
}

function AskApprove({ schedule, close }: AskProps): ReactNode {
  const say = useSay()
  const { id, name, version, sentence } = schedule
  const { run, isPending } = useAct({
    // The version that was looked at: what was changed meanwhile is not approved unseen.
    act: () => api.schedules.approve(id, { ifMatch: version }),
    touches: touchesOf(id),
    told: () => ({ tone: 'done', message: say('approval.approved', { name }) }),
  })
  return (
    <Modal
      {...{ opened: true, onClose: close, title: say('approval.ask', { name }) }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <p>{say('approval.askText', { sentence })}</p>
      <div className="modal-foot">
        <Button variant="default" onClick={close} data-autofocus>
          {say('action.cancel')}
        </Button>
        <Button
          loading={isPending}
          onClick={() => {
            run(undefined)
            close()
          }}
        >
          {say('approval.approve')}
        </Button>
      </div>
    </Modal>
  )
}

function AskReject({ schedule, close }: AskProps): ReactNode {
  const say = useSay()
  const { id, name, version } = schedule
  const [reason, setReason] = useState('')
  const { run, isPending } = useAct({
    act: () => api.schedules.reject(id, { reason }, { ifMatch: version }),
    touches: touchesOf(id),
    told: () => ({ tone: 'done', message: say('approval.wasRejected', { name }) }),
  })
  return (
    <Modal
      {...{ opened: true, onClose: close, title: say('approval.rejectAsk', { name }) }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <p>{say('approval.rejectText')}</p>
      <Textarea
        {...{ label: say('approval.reason'), value: reason, autosize: true, minRows: 2, maxLength: 1_000 }}
        data-autofocus
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <div className="modal-foot">
        <Button variant="default" onClick={close}>
          {say('action.cancel')}
        </Button>
        <Button
          {...{ color: 'red', loading: isPending, disabled: reason.trim() === '' }}
          onClick={() => {
            run(undefined)
            close()
          }}
        >
          {say('approval.reject')}
        </Button>
      </div>
    </Modal>
  )
}
