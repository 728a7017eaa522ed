import { IconMinus, IconPencil, IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { PlannedChange, PlannedItem, PlanView } from '../../../src/features/as-code/schema.ts'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

const ICONS = { create: IconPlus, update: IconPencil, delete: IconMinus } as const

type ChangingAction = keyof typeof ICONS

const isChanging = (item: PlannedItem): item is PlannedItem & { readonly action: ChangingAction } =>
  Object.hasOwn(ICONS, item.action)

/** A plan, or what was done: each thing that changes with its fields before and after, and what is in no file. */
export function PlanList({ plan }: { readonly plan: PlanView }): ReactNode {
  const say = useSay()
  const changing = plan.items.filter(isChanging)
  const unmanaged = plan.items.filter(({ action }) => action === 'unmanaged')
  const { create, update, delete: deleted, unchanged } = plan.counts
  const totals = { create, update, delete: deleted, unchanged }
  return (
    <Panel
      title={plan.applied ? say('asCode.done') : say('asCode.planned')}
      aside={
        <span className="quiet small" role="status">
          {plan.applied ? say('asCode.totalsDone', totals) : say('asCode.totals', totals)}
        </span>
      }
    >
      {changing.length === 0 && <p className="panel-none">{say('asCode.nothing')}</p>}
      <ol className="as-code-plan">
        {changing.map((item) => (
          <Item key={`${item.kind} ${item.pointer ?? item.id ?? item.name}`} item={item} />
        ))}
      </ol>
      {unmanaged.length > 0 && (
        <details className="as-code-unmanaged">
          <summary>{say('asCode.unmanaged', { count: unmanaged.length })}</summary>
          <p className="quiet small">{say('asCode.unmanagedHint')}</p>
          <ul>
            {unmanaged.map(({ kind, id, name }) => (
              <li key={`${kind} ${id ?? name}`}>
                <span className="quiet">{say(`asCode.thing.${kind}`)}</span> {name}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}

function Item({ item }: { readonly item: PlannedItem & { readonly action: ChangingAction } }): ReactNode {
  const say = useSay()
  const Icon = ICONS[item.action]
  return (
    <li data-action={item.action}>
      <div className="as-code-what">
        <span className="as-code-action">
          <Icon size={13} aria-hidden /> {say(`asCode.action.${item.action}`)}
        </span>
        <span className="quiet">{say(`asCode.thing.${item.kind}`)}</span>
        <strong>{item.name}</strong>
      </div>
      {item.action !== 'delete' && item.changes.length > 0 && (
        <dl className="as-code-changes">
          {item.changes.map((change) => (
            <Change key={change.field} change={change} isNew={item.action === 'create'} />
          ))}
        </dl>
      )}
    </li>
  )
}

function Change({ change, isNew }: { readonly change: PlannedChange; readonly isNew: boolean }): ReactNode {
  const say = useSay()
  const shown = (value: unknown): string => (value === null ? say('asCode.none') : textOf(value))
  return (
    <>
      <dt>{change.field}</dt>
      <dd>
        {!isNew && (
          <>
            <del>{shown(change.before)}</del> <span aria-hidden>→</span>{' '}
          </>
        )}
        <ins>{shown(change.after)}</ins>
      </dd>
    </>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
