import { Button } from '@mantine/core'
import { IconPlayerPause } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { TargetView } from '../../../src/features/targets/schema.ts'
import { api } from '../../api/client.ts'
import { useAct } from '../../api/use-act.ts'
import { Permitted } from '../../parts/Permitted.tsx'
import { useReasonText } from '../../parts/reason-text.ts'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import { Time } from '../../time/Time.tsx'

interface CellProps {
  readonly target: TargetView
}

/** The columns of the table of targets. */
export function useTargetColumns(): readonly Column<TargetView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'name', width: 'minmax(160px, 2fr)', header: say('targets.name') },
      cell: (target) => <NameCell target={target} />,
    },
    {
      ...{ id: 'state', width: 'minmax(130px, 1.2fr)', header: say('targets.state') },
      cell: (target) => <StateCell target={target} />,
    },
    {
      ...{ id: 'last', width: '130px', header: say('targets.last'), cardLabel: say('targets.last') },
      cell: ({ last_delivered_at: at }) =>
        at === null ? <span className="quiet">{say('never')}</span> : <Time at={at} />,
    },
    {
      ...{ id: 'test', width: '74px', header: <span className="visually-hidden">{say('targets.test')}</span> },
      cell: (target) => <TestButton target={target} />,
    },
  ]
}

function NameCell({ target }: CellProps): ReactNode {
  return (
    <div>
      <div className="thing-name">
        {target.name} <span className="tag">{target.kind}</span>
      </div>
      <div className="quiet small one-line" title={target.url ?? undefined}>
        {placeOf(target)}
      </div>
    </div>
  )
}

/** Where it is, in a few letters: an address, or what its kind goes by. */
const placeOf = ({ url, settings }: TargetView): string =>
  [url, ...Object.values(settings).map((value) => (Array.isArray(value) ? value.join(', ') : String(value)))]
    .filter((text) => text !== null)
    .join(' · ')

function StateCell({ target }: CellProps): ReactNode {
  const say = useSay()
  const reason = useReasonText()
  const { id, enabled, disabled_why: why, held, failures_in_a_row: count } = target
  return (
    <div>
      {enabled ? (
        <span>{say('targets.isOn')}</span>
      ) : (
        <span className="late-text">
          <IconPlayerPause size={14} aria-hidden /> {say('targets.isOff')}
        </span>
      )}
      {why !== null && <div className="quiet small">{reason(why)}</div>}
      {count > 0 && <div className="bad small">{say('targets.failures', { count })}</div>}
      {held > 0 && (
        <div className="small">
          <Link to="/operations/deliveries" search={{ target_id: id, status: 'held' }} className="door">
            {say('targets.held', { count: held })}
          </Link>
        </div>
      )}
    </div>
  )
}

function TestButton({ target: { id, name } }: CellProps): ReactNode {
  const say = useSay()
  const test = useAct({
    act: () => api.targets.test(id),
    touches: [['targets']],
    told: ({ delivered, duration_ms: ms, message, status_code: code }) => ({
      tone: delivered ? 'done' : 'failed',
      message: delivered
        ? say('targets.tested', { name, span: spanText(ms, say) })
        : say('targets.testFailed', { name, why: message ?? String(code ?? '') }),
    }),
  })
  return (
    <Permitted permission="targets:write">
      <Button {...{ variant: 'default', loading: test.isPending }} onClick={() => test.run(undefined)}>
        {say('targets.test')}
      </Button>
    </Permitted>
  )
}
