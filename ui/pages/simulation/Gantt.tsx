import { ActionIcon, Button } from '@mantine/core'
import { IconClockEdit, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { useMemo, type ReactNode } from 'react'
import type { SimulationView } from '../../../src/features/simulation/result-schema.ts'
import { useDoors } from '../../parts/doors.ts'
import type { RibbonMark, RibbonShade } from '../../ribbon/items.ts'
import { RibbonSheet } from '../../ribbon/RibbonSheet.tsx'
import { zoom, type RibbonView } from '../../ribbon/view.ts'
import { layOutSimulation, marksOf, shadesOf } from '../../ribbon/simulated-items.ts'
import { Track, type Point } from '../../ribbon/Track.tsx'
import { useTexts } from '../../texts/TextProvider.tsx'
import { useNow } from '../../time/clock.ts'
import { secondTime, shortTime } from '../../time/zone.ts'
import '../../ribbon/ribbon.css'

const MOST_BESIDE = 4
/** With so many schedules each has one row. */
const MANY = 6
const MINUTE = 60_000

/** What part of the window is looked at. */
export interface Sight {
  readonly view: RibbonView
  readonly setView: (view: RibbonView) => void
  readonly whole: RibbonView
}

interface GanttProps {
  readonly simulation: SimulationView
  readonly sight: Sight
  readonly marked?: ReadonlySet<string> | undefined
}

/** The simulated window as a ribbon, with how full it was below. */
export function Gantt({ simulation, sight, marked }: GanttProps): ReactNode {
  const { say, locale } = useTexts()
  const doors = useDoors()
  const now = useNow(MINUTE)
  const { view, setView } = sight
  const laid = useMemo(() => {
    const mostBeside = simulation.schedules.length > MANY ? 1 : MOST_BESIDE
    const hrefOf = (id: string): string | undefined => (id.startsWith('new_') ? undefined : doors.schedule(id))
    return layOutSimulation(simulation, { say, marked, mostBeside, hrefOf })
  }, [simulation, say, marked, doors])
  const shades = useMemo(() => shadesOf(simulation.outages, say), [simulation, say])
  const marks = useMemo(() => marksOf(simulation), [simulation])
  const label = say('sim.label', {
    count: simulation.totals.occurrences,
    from: shortTime(Date.parse(simulation.from), { locale }),
    to: shortTime(Date.parse(simulation.to), { locale }),
  })
  return (
    <div className="ribbon">
      <GanttControls {...sight} />
      <RibbonSheet {...{ ...laid, view, setView, now, label, shades, marks, open: () => undefined }} />
      <Courses simulation={simulation} view={view} />
      <Notes {...{ simulation, marks, shades }} />
    </div>
  )
}

function GanttControls({ view, setView, whole }: Sight): ReactNode {
  const { say } = useTexts()
  return (
    <div className="ribbon-controls simulate-controls">
      <Button variant="default" disabled={view === whole} onClick={() => setView(whole)}>
        {say('sim.whole')}
      </Button>
      <ActionIcon aria-label={say('sim.closer')} onClick={() => setView(zoom(view, 0.5))}>
        <IconZoomIn size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon aria-label={say('sim.wider')} onClick={() => setView(zoom(view, 2))}>
        <IconZoomOut size={16} aria-hidden />
      </ActionIcon>
    </div>
  )
}

interface CoursesProps {
  readonly simulation: SimulationView
  readonly view: RibbonView
}

/** How many waited and were at work, and what was used. What there was none of is not drawn. */
function Courses({ simulation: { depth, to, totals }, view }: CoursesProps): ReactNode {
  const { say, locale } = useTexts()
  const until = Date.parse(to)
  const write = (value: number): string => say('sim.most', { count: value.toLocaleString(locale) })
  const course = (of: 'waiting' | 'running' | 'tokens' | 'cost'): readonly Point[] =>
    depth.map((one) => ({ at: Date.parse(one.at), value: one[of] }))
  const all = [
    { of: 'waiting', name: say('sim.waiting'), isThere: true, tone: 'quiet' },
    { of: 'running', name: say('sim.running'), isThere: true, tone: 'accent' },
    { of: 'tokens', name: say('sim.tokensUsed'), isThere: totals.tokens > 0, tone: 'accent' },
    { of: 'cost', name: say('sim.costs'), isThere: totals.cost > 0, tone: 'accent' },
  ] as const
  return all
    .filter(({ isThere }) => isThere)
    .map(({ of, name, tone }) => {
      const points = course(of)
      const count = points.reduce((most, { value }) => Math.max(most, value), 0)
      const label = say('sim.track', { name, count: count.toLocaleString(locale) })
      return <Track key={of} {...{ name, tone, points, until, view, write, label }} />
    })
}

interface NotesProps {
  readonly simulation: SimulationView
  readonly marks: readonly RibbonMark[]
  readonly shades: readonly RibbonShade[]
}

/** What the picture cannot say by itself. */
function Notes({ simulation: { rows, truncated }, marks, shades }: NotesProps): ReactNode {
  const { say, locale } = useTexts()
  return (
    <>
      {shades.length > 0 && (
        <ul className="simulate-marks simulate-outs" aria-label={say('sim.outages')}>
          {shades.map(({ id, label, from, to }) => (
            <li key={id}>
              <i aria-hidden /> {label} {secondTime(from, { locale })}–{secondTime(to, { locale })}
            </li>
          ))}
        </ul>
      )}
      {marks.length > 0 && (
        <ul className="simulate-marks" aria-label={say('sim.dst')}>
          {marks.map(({ id, label }) => (
            <li key={id}>
              <IconClockEdit size={14} aria-hidden /> {label}
            </li>
          ))}
        </ul>
      )}
      {truncated && <p className="ribbon-note">{say('sim.truncated', { count: rows.length })}</p>}
    </>
  )
}
