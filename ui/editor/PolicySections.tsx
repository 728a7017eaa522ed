import { Radio } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'
import { spanText } from '../time/span.ts'
import { useEditor } from './context.ts'
import { ChoiceField, NumberField, TextField } from './fields.tsx'
import { policyName } from './form/policies.ts'
import { PolicyChoice } from './PolicyChoice.tsx'
import { retryWaits } from './form/retry-waits.ts'
import { Fold } from './Section.tsx'

const COLLISIONS = [
  ...['misfire_policy', 'catchup_limit', 'catchup_window_seconds', 'overlap_action', 'max_parallel'],
  ...['concurrency_policy', 'max_concurrency', 'queue_depth'],
]

/** What happens to occurrences that were missed, or come while a run still goes on. */
export function CollisionSection(): ReactNode {
  const say = useSay()
  const { form, isWrongIn } = useEditor()
  const summary = [
    say(policyName('misfire', form.misfire_policy)),
    say(policyName('overlap', form.overlap_action)),
    say(policyName('concurrency', form.concurrency_policy)),
  ].join(' · ')
  return (
    <Fold title={say('edit.collide')} number={4} summary={summary} isWrong={isWrongIn(COLLISIONS)}>
      <PolicyChoice policy="misfire" />
      <div className="edit-pair">
        {form.misfire_policy === 'CATCH_UP_LIMITED' && (
          <NumberField name="catchup_limit" named="edit.catchupLimit" min={1} />
        )}
        {form.misfire_policy !== 'SKIP' && (
          <NumberField name="catchup_window_seconds" named="edit.catchupWindow" example="edit.catchupWindow.usual" />
        )}
      </div>
      <PolicyChoice policy="overlap" />
      {form.overlap_action === 'PARALLEL' && (
        <NumberField name="max_parallel" named="edit.maxParallel" example="edit.unlimited" min={1} />
      )}
      <PolicyChoice policy="concurrency" />
      <div className="edit-pair">
        {form.concurrency_policy !== 'PARALLEL' && (
          <NumberField name="max_concurrency" named="edit.maxConcurrency" min={1} />
        )}
        {form.concurrency_policy === 'QUEUE' && <NumberField name="queue_depth" named="edit.queueDepth" />}
      </div>
    </Fold>
  )
}

const TROUBLE = ['failure_action', 'failure_options', 'retry_policy', 'timeout_seconds']

/** What happens when a run fails, now and at the next occurrence. */
export function TroubleSection(): ReactNode {
  const say = useSay()
  const { form, isWrongIn } = useEditor()
  const summary = `${say(policyName('failure', form.failure_action))} · ${useRetrySummary()}`
  return (
    <Fold title={say('edit.trouble')} number={5} summary={summary} isWrong={isWrongIn(TROUBLE)}>
      <PolicyChoice policy="failure" />
      {form.failure_action === 'BACKOFF' && (
        <TextField
          name="failure_ladder"
          named="edit.failureLadder"
          isCode
          knownAs={['failure_options.ladder_seconds', 'failure_options']}
        />
      )}
      {form.failure_action === 'HALF_OPEN' && (
        <div className="edit-pair">
          <NumberField name="threshold" named="edit.threshold" min={1} knownAs={['failure_options.threshold']} />
          <NumberField
            name="cooldown_seconds"
            named="edit.cooldown"
            min={1}
            knownAs={['failure_options.cooldown_seconds']}
          />
        </div>
      )}
      {form.failure_action === 'RETRY' ? <p className="edit-note">{say('edit.retry.off')}</p> : <RetryFields />}
      <NumberField name="timeout_seconds" named="edit.timeout" example="edit.timeout.usual" min={1} />
    </Fold>
  )
}

function useRetrySummary(): string {
  const say = useSay()
  const { form } = useEditor()
  const { waits } = retryWaits(form)
  if (form.failure_action === 'RETRY' || waits.length === 0) return say('edit.retry.none')
  return form.retry_as === 'usual'
    ? say('edit.retry.usual')
    : say('edit.retry.count', { count: Number(form.max_retries) })
}

const RETRY_AS = ['usual', 'none', 'own'] as const
const STRATEGIES = [
  ['exponential', 'edit.strategy.exponential'],
  ['fixed', 'edit.strategy.fixed'],
  ['ladder', 'edit.strategy.ladder'],
] as const

/** How often and how soon a failed attempt is repeated, with the waits written out. */
function RetryFields(): ReactNode {
  const say = useSay()
  const { form, set, errorOf } = useEditor()
  return (
    <div className="edit-retry">
      <Radio.Group
        {...{ value: form.retry_as, label: say('edit.retry'), error: errorOf('retry_policy') }}
        onChange={(as) => set({ retry_as: as })}
      >
        <div className="edit-radios">
          {RETRY_AS.map((as) => (
            <Radio key={as} value={as} size="xs" label={say(`edit.retryAs.${as}`)} />
          ))}
        </div>
      </Radio.Group>
      {form.retry_as === 'own' && <OwnRetry />}
      <RetryPreview />
    </div>
  )
}

function OwnRetry(): ReactNode {
  const { form } = useEditor()
  return (
    <div className="edit-pair">
      <ChoiceField name="strategy" named="edit.strategy" choices={STRATEGIES} knownAs={['retry_policy.strategy']} />
      <NumberField name="max_retries" named="edit.maxRetries" min={1} knownAs={['retry_policy.max_retries']} />
      {form.strategy === 'ladder' ? (
        <TextField name="ladder" named="edit.ladder" isCode knownAs={['retry_policy.ladder_seconds']} />
      ) : (
        <NumberField name="base_seconds" named="edit.base" isWhole={false} knownAs={['retry_policy.base_ms']} />
      )}
      {form.strategy === 'exponential' && (
        <NumberField name="max_seconds" named="edit.longest" isWhole={false} knownAs={['retry_policy.max_ms']} />
      )}
      <NumberField name="jitter" named="edit.jitter" isWhole={false} max={1} knownAs={['retry_policy.jitter']} />
    </div>
  )
}

/** Attempt, wait, attempt …: what a failing run would go through. */
function RetryPreview(): ReactNode {
  const say = useSay()
  const { form } = useEditor()
  const { waits, isCut } = retryWaits(form)
  if (waits.length === 0) return <p className="edit-note">{say('edit.retry.once')}</p>
  return (
    <ol className="retry-preview" aria-label={say('edit.retry.preview')}>
      <li>{say('edit.retry.attempt', { count: 1 })}</li>
      {waits.map((wait, index) => (
        <li key={index}>
          <span className="quiet">{say('edit.retry.wait', { span: spanText(wait, say) })}</span>
          {say('edit.retry.attempt', { count: index + 2 })}
        </li>
      ))}
      {isCut && <li className="quiet">…</li>}
    </ol>
  )
}
