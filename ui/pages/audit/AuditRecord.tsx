import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import type { AuditView } from '../../../src/features/audit/schema.ts'
import { Copyable } from '../../parts/Copyable.tsx'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { differencesOf, type Difference } from './differences.ts'

interface AuditRecordProps {
  readonly record: AuditView
  readonly close: () => void
}

/** One record: who did what to what, and every field that is not as it was. */
export function AuditRecord({ record, close }: AuditRecordProps): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { no, at, actor, action, object, hash } = record
  const differences = differencesOf(record.before, record.after)
  const door =
    object.kind === 'schedule' ? doors.schedule(object.id) : object.kind === 'run' ? doors.run(object.id) : undefined
  return (
    <Drawer
      {...{ opened: true, onClose: close, position: 'right', size: 640, title: say('audit.record', { no }) }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <div className="details">
        <p>
          <strong>{action}</strong> · <Time at={at} show="short" />
        </p>
        <dl className="operation-facts">
          <dt>{say('audit.col.actor')}</dt>
          <dd>
            <code>{actor}</code>
          </dd>
          <dt>{say('audit.col.object')}</dt>
          <dd>
            <span className="quiet">{object.kind}</span>{' '}
            <Door to={door} {...(door === undefined ? {} : { className: 'door door-seen' })}>
              <code>{object.id}</code>
            </Door>
          </dd>
          <dt>{say('audit.hash')}</dt>
          <dd>
            <code className="hash">{hash}</code> <Copyable text={hash} name={say('audit.hash')} />
          </dd>
        </dl>
        {differences.length === 0 ? <p className="quiet">{say('audit.same')}</p> : <Diff differences={differences} />}
      </div>
    </Drawer>
  )
}

function Diff({ differences }: { readonly differences: readonly Difference[] }): ReactNode {
  const say = useSay()
  return (
    <table className="diff">
      <thead>
        <tr>
          <th scope="col">{say('audit.field')}</th>
          <th scope="col">{say('audit.before')}</th>
          <th scope="col">{say('audit.after')}</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td>{before === undefined ? null : <del>{textOf(before)}</del>}</td>
            <td>{after === undefined ? null : <ins>{textOf(after)}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
