import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState, type KeyboardEvent, type ReactNode } from 'react'
import { IconCalendarEvent, IconChevronRight } from '@tabler/icons-react'
import type { LineageNode, LineageView } from '../../../../src/features/access/restrictions-schema.ts'
import type { RunDetail, RunView } from '../../../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { useAgentName } from '../../../api/names.ts'
import { Door } from '../../../parts/Door.tsx'
import { useDoors } from '../../../parts/doors.ts'
import { OutcomeMark } from '../../../parts/outcome/OutcomeMark.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { ShortId } from '../../../parts/ShortId.tsx'
import { StateDot } from '../../../parts/StateDot.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { Time } from '../../../time/Time.tsx'
import { lineageOf, lineagePages } from '../queries.ts'
import { moveIn } from './tree-keys.ts'

/** Where a run comes from, and what came of it: a tree to walk with the arrow keys. A run without relations has none. */
export function Lineage({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  const { data } = useQuery(lineageOf(run.id))
  if (data === undefined || (data.ancestors.length === 0 && data.children.length === 0)) return null
  return (
    <Panel
      title={say('lineage.title')}
      aside={data.depth > 0 && <span className="quiet small">{say('lineage.depth', { depth: data.depth })}</span>}
    >
      <ul role="tree" aria-label={say('lineage.tree')} className="lineage" onKeyDown={walk}>
        <Ancestors line={data.ancestors} view={data} level={1} />
      </ul>
    </Panel>
  )
}

/** The arrow keys go from one to the next of those on screen, open and shut. */
function walk(event: KeyboardEvent<HTMLUListElement>): void {
  if (moveIn(event.currentTarget, event.key)) event.preventDefault()
}

interface AncestorsProps {
  /** Those that are still above, oldest first. */
  readonly line: readonly LineageNode[]
  readonly view: LineageView
  readonly level: number
}

/** Each within the one that made it, down to the run itself. */
function Ancestors({ line: [first, ...rest], view, level }: AncestorsProps): ReactNode {
  if (first === undefined) return <Branch node={view.self} level={level} isOpen isSelf />
  return (
    <Item node={first} level={level} isFirst={level === 1} isOpen>
      <Ancestors line={rest} view={view} level={level + 1} />
    </Item>
  )
}

interface BranchProps {
  readonly node: LineageNode
  readonly level: number
  readonly isOpen?: boolean
  readonly isSelf?: boolean
}

/** One whose children are read when it is opened. */
function Branch({ node, level, isOpen = false, isSelf = false }: BranchProps): ReactNode {
  const [open, setOpen] = useState(isOpen)
  const toggle = (): void => setOpen(!open)
  // What a schedule made is told of the run that made the schedule; whether a run made anything is known once it is asked.
  const hasChildren = node.kind === 'run'
  return (
    <Item {...{ node, level, isSelf, isFirst: level === 1 }} {...(hasChildren ? { isOpen: open, toggle } : {})}>
      {open && <Children id={node.id} level={level + 1} />}
    </Item>
  )
}

function Children({ id, level }: { readonly id: string; readonly level: number }): ReactNode {
  const say = useSay()
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(lineagePages(id))
  const children = data?.pages.flatMap((page) => page.children) ?? []
  if (data !== undefined && children.length === 0)
    return (
      <li role="none" className="lineage-none quiet small">
        {say('lineage.nothing')}
      </li>
    )
  return (
    <>
      {children.map((child) => (
        <Branch key={child.id} node={child} level={level} />
      ))}
      {hasNextPage && (
        <li role="none" className="lineage-none">
          <button
            {...{ type: 'button', className: 'lineage-more door small', disabled: isFetchingNextPage }}
            onClick={() => void fetchNextPage()}
          >
            {say('lineage.more')}
          </button>
        </li>
      )}
    </>
  )
}

interface ItemProps {
  readonly node: LineageNode
  readonly level: number
  readonly isFirst: boolean
  readonly isSelf?: boolean
  /** Left out: there is nothing below it. */
  readonly isOpen?: boolean
  readonly toggle?: () => void
  readonly children?: ReactNode
}

/** The item is the line alone: what is below it stands beside it, so that it is not read as a part of its name. */
function Item({ node, level, isFirst, isSelf = false, isOpen, toggle, children }: ItemProps): ReactNode {
  return (
    <li role="none">
      <div
        {...{ role: 'treeitem', 'aria-level': level, tabIndex: isFirst ? 0 : -1, 'aria-selected': isSelf }}
        {...(isOpen === undefined ? {} : { 'aria-expanded': isOpen })}
        {...(isSelf ? { 'aria-current': 'true' as const } : {})}
        className="lineage-row"
      >
        {toggle === undefined ? (
          <span className="lineage-twist" />
        ) : (
          <Twist {...{ node, isOpen: isOpen === true, toggle }} />
        )}
        <Named node={node} isSelf={isSelf} />
      </div>
      {children !== undefined && children !== false && <ul role="group">{children}</ul>}
    </li>
  )
}

interface TwistProps {
  readonly node: LineageNode
  readonly isOpen: boolean
  readonly toggle: () => void
}

function Twist({ node, isOpen, toggle }: TwistProps): ReactNode {
  const say = useSay()
  const name = node.name ?? node.id
  return (
    <button
      {...{
        type: 'button',
        className: 'lineage-twist',
        tabIndex: -1,
        'data-twist': true,
        onClick: toggle,
      }}
      aria-label={say(isOpen ? 'lineage.shut' : 'lineage.open', { name })}
    >
      <IconChevronRight size={14} aria-hidden data-open={isOpen} />
    </button>
  )
}

/** What it is, as a door to it. */
function Named({ node, isSelf }: { readonly node: LineageNode; readonly isSelf: boolean }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const agent = useAgentName(node.agent_id)
  const isSchedule = node.kind === 'schedule'
  const words = isSchedule ? say('lineage.schedule', { name: node.name ?? node.id }) : say('lineage.run', { agent })
  return (
    <span className="lineage-words">
      {isSchedule ? <IconCalendarEvent size={15} aria-hidden /> : null}
      {isSchedule ? (
        <StateDot state={node.status as ScheduleView['state']} />
      ) : (
        <OutcomeMark status={node.status as RunView['status']} bare />
      )}
      {isSelf ? (
        <strong>{words}</strong>
      ) : (
        <Door to={isSchedule ? doors.schedule(node.id) : doors.run(node.id)} className="door door-seen">
          {words}
        </Door>
      )}
      {isSelf && <span className="tag">{say('lineage.self')}</span>}
      <span className="quiet small lineage-facts">
        {!isSchedule && <ShortId id={node.id} />} <Time at={node.created_at} />
      </span>
    </span>
  )
}
