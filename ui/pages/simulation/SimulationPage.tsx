import { Button, Progress } from '@mantine/core'
import { IconTimelineEventText } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, type ReactNode } from 'react'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSimulation, type Simulation } from '../../ribbon/use-simulation.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Question } from './Question.tsx'
import { Result } from './Result.tsx'
import { readSimulateSearch, simulateInputOf } from './simulation-search.ts'
import './simulate.css'

/** What would happen: the question on top, all of it in the address, and the answer below. */
export function SimulatePage(): ReactNode {
  const say = useSay()
  const search = useSearch({
    ...{ from: '/shell/automation/simulate', select: readSimulateSearch, structuralSharing: true },
  })
  const navigate = useNavigate({ from: '/automation/simulate' })
  const input = useMemo(() => simulateInputOf(search), [search])
  const simulation = useSimulation(input)
  return (
    <>
      <PageHead title={say('sim.title')} lead={say('sim.lead')} />
      <div className="simulate">
        <Question
          key={JSON.stringify(search)}
          search={search}
          isComputing={simulation.isComputing}
          ask={(next) => {
            // The same question again is a new one: a window that begins now begins elsewhere by now.
            if (JSON.stringify(next) === JSON.stringify(search)) simulation.retry()
            else void navigate({ search: next, resetScroll: false })
          }}
        />
        {input === null ? <Nothing /> : <Answer simulation={simulation} />}
      </div>
    </>
  )
}

function Nothing(): ReactNode {
  const say = useSay()
  return (
    <Panel>
      <EmptyState
        icon={<IconTimelineEventText size={22} aria-hidden />}
        title={say('sim.empty.title')}
        text={say('sim.empty.text')}
      />
    </Panel>
  )
}

function Answer({ simulation }: { readonly simulation: Simulation }): ReactNode {
  const say = useSay()
  const { answer, error, isComputing, isOld } = simulation
  return (
    <>
      {isComputing && <Computing simulation={simulation} />}
      {error !== null && !isComputing && (
        <Panel>
          <ErrorState error={error} retry={simulation.retry} />
        </Panel>
      )}
      {answer !== undefined && error === null && (
        <div className="simulate-answer" data-old={isOld || isComputing}>
          <Result answer={answer} />
        </div>
      )}
      {answer === undefined && error === null && (
        <Panel>
          {isComputing ? <Lines count={6} height={26} /> : <p className="panel-none">{say('sim.stopped')}</p>}
        </Panel>
      )}
    </>
  )
}

function Computing({ simulation: { progress, cancel } }: { readonly simulation: Simulation }): ReactNode {
  const say = useSay()
  const percent = `${Math.round(progress * 100)} %`
  const told = say('sim.computing', { percent })
  return (
    <div className="simulate-progress" role="status">
      <Progress {...{ value: progress * 100, size: 'sm', 'aria-label': told }} animated={progress === 0} />
      <span className="quiet small">{told}</span>
      <Button variant="default" size="compact-sm" onClick={cancel}>
        {say('sim.stop')}
      </Button>
    </div>
  )
}
