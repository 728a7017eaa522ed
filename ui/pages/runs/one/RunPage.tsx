import { Anchor, Button } from '@mantine/core'
import { IconArrowLeft, IconBraces } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, type ReactNode } from 'react'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { Copyable } from '../../../parts/Copyable.tsx'
import { ErrorState } from '../../../parts/ErrorState.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { PageHead } from '../../../parts/PageHead.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { Value } from '../../../parts/Value.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { Deliveries } from './Deliveries.tsx'
import { Facts } from './Facts.tsx'
import { InOut } from './InOut.tsx'
import { LogPanel } from './LogPanel.tsx'
import { Lineage } from './Lineage.tsx'
import { runOf } from '../queries.ts'
import { RunHead } from './RunHead.tsx'
import { Trace } from './Trace.tsx'
import { Usage } from './Usage.tsx'
import { WhyPanel } from './WhyPanel.tsx'
import '../runs.css'
import '../run.css'

/** Everything there is to know about one run, and what can be done about it. */
export function RunPage(): ReactNode {
  const say = useSay()
  const { id } = useParams({ from: '/shell/automation/runs/$id' })
  const { data: run, error, refetch } = useQuery(runOf(id))
  return (
    <>
      <Anchor component={Link} to="/automation/runs" className="run-back">
        <IconArrowLeft size={14} aria-hidden />
        {say('run.back')}
      </Anchor>
      {run !== undefined ? (
        <Run run={run} />
      ) : (
        <>
          <PageHead title={id} />
          <Panel>
            {error === null ? (
              <Lines count={10} height={22} />
            ) : (
              <ErrorState error={error} retry={() => void refetch()} />
            )}
          </Panel>
        </>
      )}
    </>
  )
}

const Compare = lazy(async () => ({ default: (await import('./Compare.tsx')).Compare }))

function Run({ run }: { readonly run: RunDetail }): ReactNode {
  const isCompared = useSearch({ from: '/shell/automation/runs/$id', select: ({ compare }) => compare !== undefined })
  return (
    <>
      <RunHead run={run} />
      <div className="run-parts">
        <Failure run={run} />
        {isCompared && (
          <Suspense fallback={null}>
            <Compare run={run} />
          </Suspense>
        )}
        <Trace run={run} />
        <div className="run-grid">
          <div className="run-main">
            <InOut run={run} />
            <LogPanel run={run} />
            <Lineage run={run} />
            <Raw run={run} />
          </div>
          <div className="run-side">
            <WhyPanel run={run} />
            <Facts run={run} />
            <Usage usage={run.usage} />
            <Deliveries run={run} />
          </div>
        </div>
      </div>
    </>
  )
}

function Failure({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  const { error_message: message, error_code: code, agent_error_code: own } = run
  if (message === null && code === null) return null
  return (
    <Panel
      title={say('run.error')}
      className="run-failure"
      aside={[code, own].map(
        (tag) =>
          tag !== null && (
            <code key={tag} className="tag">
              {tag}
            </code>
          ),
      )}
    >
      <Value value={message ?? code} label={say('run.error')} />
    </Panel>
  )
}

/** Everything as the API says it, for those who want it. */
function Raw({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  const isRaw = useSearch({ from: '/shell/automation/runs/$id', select: ({ raw }) => raw === true })
  const navigate = useNavigate({ from: '/automation/runs/$id' })
  const toggle = (): void => void navigate({ search: isRaw ? {} : { raw: true }, replace: true, resetScroll: false })
  const text = JSON.stringify(run, null, 2)
  return (
    <div className="run-raw">
      <Button variant="subtle" color="gray" leftSection={<IconBraces size={14} aria-hidden />} onClick={toggle}>
        {say(isRaw ? 'run.rawHide' : 'run.raw')}
      </Button>
      {isRaw && (
        <Panel title={say('run.rawTitle')} aside={<Copyable text={text} name={say('run.rawTitle')} />}>
          <Value value={run} label={say('run.rawTitle')} isWhole />
        </Panel>
      )}
    </div>
  )
}
