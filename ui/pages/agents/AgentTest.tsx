import { Alert, Button, Code, Drawer, Textarea } from '@mantine/core'
import { IconCalendarPlus, IconMessages, IconPlayerPlay } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { AgentTest as Answer, AgentView } from '../../../src/features/agents/schema.ts'
import { api } from '../../api/client.ts'
import { messageOf } from '../../api/refusal.ts'
import { useOpenEditor } from '../../editor/hooks/use-editor.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { newSessionKey } from '../../parts/session-name.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import './connect.css'

interface AgentTestProps {
  readonly agent: Pick<AgentView, 'id' | 'name' | 'executor'>
  readonly close: () => void
  /** Tested at once, because that is what one has just connected it for. */
  readonly isNew?: boolean
}

const ICON = { size: 14, 'aria-hidden': true } as const

/** Sends an agent a message, and shows its answer or the reason why there is none. */
export function AgentTest({ agent, close, isNew = false }: AgentTestProps): ReactNode {
  const say = useSay()
  const queries = useQueryClient()
  const [text, setText] = useState(() => say('connect.message'))
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (message: string) => api.agents.test(agent.id, { text: message }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['runs'] }),
  })
  const hasBegun = useRef(false)
  useEffect(() => {
    if (!isNew || hasBegun.current) return
    hasBegun.current = true
    mutate(text)
  }, [isNew, mutate, text])
  return (
    <Drawer
      {...{
        opened: true,
        onClose: close,
        title: say('connect.test', { name: agent.name }),
        position: 'right',
        size: 520,
      }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <div className="form">
        <Textarea
          {...{ label: say('connect.messageLabel'), value: text, autosize: true, minRows: 2, maxRows: 8 }}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button
          {...{ loading: isPending, disabled: text.trim() === '', leftSection: <IconPlayerPlay {...ICON} /> }}
          onClick={() => mutate(text)}
        >
          {say(data === undefined && error === null ? 'connect.run' : 'connect.again')}
        </Button>
        <div aria-live="polite">
          {error !== null && <Alert color="red">{messageOf(error, say)}</Alert>}
          {data !== undefined && <Outcome {...{ data, agent }} />}
        </div>
        {data?.ok === true && <NextSteps {...{ agent, run: data.run_id, close }} />}
        <div className="form-actions">
          <Button variant="default" onClick={close}>
            {say('action.close')}
          </Button>
        </div>
      </div>
    </Drawer>
  )
}

function Outcome({ data, agent }: { readonly data: Answer; readonly agent: AgentTestProps['agent'] }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { ok, output, problem, run_id: run, duration_ms: ms } = data
  const answer = typeof output === 'string' ? output : JSON.stringify(output, null, 2)
  return (
    <Alert
      color={ok ? 'green' : 'red'}
      classNames={{ label: 'alert-ink' }}
      title={ok ? say('connect.answered', { span: ms === null ? '' : spanText(ms, say) }) : say('connect.failed')}
    >
      <pre className="connect-answer">{ok ? (answer === '' ? say('connect.empty') : answer) : problem}</pre>
      {agent.executor.kind === 'worker' && !ok && (
        <>
          <p className="connect-note">{say('connect.workerHow')}</p>
          <Code block>{say('connect.workerCommand', { id: agent.id })}</Code>
        </>
      )}
      <Door to={doors.run(run)}>{say('connect.openRun')}</Door>
    </Alert>
  )
}

interface NextStepsProps extends Omit<AgentTestProps, 'isNew'> {
  readonly run: string
}

function NextSteps({ agent, run }: NextStepsProps): ReactNode {
  const say = useSay()
  const openEditor = useOpenEditor()
  return (
    <div className="connect-next">
      <Button
        variant="light"
        leftSection={<IconMessages {...ICON} />}
        renderRoot={(props) => (
          <Link {...props} to="/chat/$key" params={{ key: newSessionKey(agent.id, '') }} search={{}} />
        )}
      >
        {say('connect.talk')}
      </Button>
      <Button
        variant="light"
        leftSection={<IconCalendarPlus {...ICON} />}
        onClick={() => openEditor({ edit: 'new', draft: run })}
      >
        {say('connect.schedule')}
      </Button>
    </div>
  )
}
