import { Button } from '@mantine/core'
import { IconCircleCheck, IconCircleDashed } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { StatsView } from '../../../src/features/stats/schema.ts'
import { targetList } from '../../api/admin-queries.ts'
import { agentList } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { useOpenEditor } from '../../editor/hooks/use-editor.ts'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import type { PlainKey } from '../../texts/fill.ts'
import { useSay } from '../../texts/TextProvider.tsx'

const HIDDEN = 'escapement.first-steps-hidden'
/** An org with more schedules than this has found its way. */
const FEW_SCHEDULES = 2
/** The agent that every installation comes with. */
const BUILT_IN = 'echo'

interface FirstStepsProps {
  readonly stats: StatsView | undefined
}

interface Step {
  readonly id: 'agent' | 'talk' | 'schedule' | 'alert'
  readonly isDone: boolean
  readonly action: ReactNode
}

/** What to do first, each with its button, until it is done or hidden. */
export function FirstSteps({ stats }: FirstStepsProps): ReactNode {
  const say = useSay()
  const [isHidden, setHidden] = useState(() => localStorage.getItem(HIDDEN) !== null)
  const may = useMay('schedules:write')
  const schedules = stats === undefined ? Infinity : totalOf(stats.schedules)
  const isShown = !isHidden && may && schedules <= FEW_SCHEDULES
  const steps = useSteps(stats, isShown)
  if (!isShown || steps === null || steps.every(({ isDone }) => isDone)) return null
  const hide = (): void => {
    localStorage.setItem(HIDDEN, '1')
    setHidden(true)
  }
  const next = steps.find(({ isDone }) => !isDone)?.id
  return (
    <Panel
      title={say('overview.first.title')}
      aside={
        <Button size="compact-xs" variant="subtle" onClick={hide}>
          {say('overview.first.hide')}
        </Button>
      }
    >
      <ol className="first-steps">
        {steps.map(({ id, isDone, action }) => (
          <li key={id} className="first-step" data-done={isDone} data-next={id === next}>
            {isDone ? (
              <IconCircleCheck size={20} role="img" aria-label={say('overview.first.done')} />
            ) : (
              <IconCircleDashed size={20} aria-hidden />
            )}
            <div className="first-step-text">
              <div className="first-step-title">{say(`overview.first.${id}`)}</div>
              <div className="quiet small">{say(`overview.first.${id}Text`)}</div>
            </div>
            {!isDone && action}
          </li>
        ))}
      </ol>
    </Panel>
  )
}

const totalOf = (counts: Readonly<Partial<Record<string, number>>>): number =>
  Object.values(counts).reduce<number>((sum, count = 0) => sum + count, 0)

/** The steps; null while it is not known which are done. */
function useSteps(stats: StatsView | undefined, isShown: boolean): readonly Step[] | null {
  const openEditor = useOpenEditor()
  const agents = useQuery({ ...agentList, enabled: isShown }).data?.items
  const mayRead = useMay('targets:read')
  const targets = useQuery({ ...targetList, enabled: isShown && mayRead }).data?.items
  if (stats === undefined || agents === undefined) return null
  const hasAgent = agents.some(({ id }) => id !== BUILT_IN)
  const variant = (isNext: boolean): 'filled' | 'default' => (isNext ? 'filled' : 'default')
  const hasTalked = totalOf(stats.runs.by_status) + totalOf(stats.pending) > 0
  const hasSchedule = totalOf(stats.schedules) > 0
  return [
    {
      ...{ id: 'agent', isDone: hasAgent },
      action: (
        <Permitted permission="agents:write">
          <LinkButton
            to="/agents"
            search={{ agent: 'new' }}
            text="overview.first.agentGo"
            variant={variant(!hasAgent)}
          />
        </Permitted>
      ),
    },
    {
      ...{ id: 'talk', isDone: hasTalked },
      action: (
        <Permitted permission="sessions:write">
          <LinkButton
            {...{ to: '/chat', search: { begin: true }, text: 'overview.first.talkGo' }}
            variant={variant(hasAgent)}
          />
        </Permitted>
      ),
    },
    {
      ...{ id: 'schedule', isDone: hasSchedule },
      action: <ScheduleButton open={() => openEditor({ edit: 'new' })} variant={variant(hasAgent && hasTalked)} />,
    },
    {
      ...{ id: 'alert', isDone: targets?.some(({ alerts }) => alerts) === true },
      action: (
        <Permitted permission="targets:write">
          <LinkButton
            {...{ to: '/settings/targets', search: { open: 'new' }, text: 'overview.first.alertGo' }}
            variant={variant(hasAgent && hasTalked && hasSchedule)}
          />
        </Permitted>
      ),
    },
  ]
}

interface LinkButtonProps {
  readonly to: string
  readonly search: Readonly<Record<string, unknown>>
  readonly text: PlainKey
  readonly variant: 'filled' | 'default'
  readonly disabled?: boolean
}

function LinkButton({ to, search, text, variant, disabled = false }: LinkButtonProps): ReactNode {
  const say = useSay()
  if (disabled)
    return (
      <Button size="xs" disabled>
        {say(text)}
      </Button>
    )
  return (
    <Button {...{ size: 'xs', variant }} renderRoot={(props) => <Link {...props} to={to} search={search as never} />}>
      {say(text)}
    </Button>
  )
}

function ScheduleButton({
  open,
  variant,
}: {
  readonly open: () => void
  readonly variant: 'filled' | 'default'
}): ReactNode {
  const say = useSay()
  return (
    <Button {...{ size: 'xs', variant }} onClick={open}>
      {say('overview.first.scheduleGo')}
    </Button>
  )
}
