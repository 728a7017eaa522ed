import type { ReactNode } from 'react'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { formOf } from '../../../editor/form/form-of.ts'
import { PolicyPicture } from '../../../editor/pictures.tsx'
import { POLICIES, policyName, policyText, type Policy } from '../../../editor/form/policies.ts'
import { retryWaits } from '../../../editor/form/retry-waits.ts'
import { Value } from '../../../parts/Value.tsx'
import type { Say } from '../../../texts/fill.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { spanText } from '../../../time/span.ts'
import { Explain } from './Explain.tsx'
import type { ScheduleOneSearch } from './one-search.ts'
import '../../../editor/editor.css'

interface PolicyTabProps {
  readonly schedule: ScheduleView
  readonly search: ScheduleOneSearch
}

const NAMES = Object.keys(POLICIES) as readonly Policy[]

/** The policies of a schedule, and the explanation of any time. */
export function PolicyTab({ schedule, search }: PolicyTabProps): ReactNode {
  const say = useSay()
  return (
    <div className="policy-tab">
      <Explain schedule={schedule} at={search.at} />
      <div className="policy-list">
        {NAMES.map((policy) => (
          <PolicyCard key={policy} policy={policy} schedule={schedule} />
        ))}
      </div>
      <dl className="policy-facts">
        {factsOf(schedule, say).map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {schedule.payload !== null && (
        <div>
          <h3>{say('edit.payload')}</h3>
          <Value value={schedule.payload} label={say('edit.payload')} />
        </div>
      )}
    </div>
  )
}

interface PolicyCardProps {
  readonly policy: Policy
  readonly schedule: ScheduleView
}

function PolicyCard({ policy, schedule }: PolicyCardProps): ReactNode {
  const say = useSay()
  const word = schedule[POLICIES[policy].field]
  return (
    <section className="policy-card">
      <span className="quiet small">{say(`policy.${policy}`)}</span>
      <strong>{say(policyName(policy, word))}</strong>
      <PolicyPicture policy={policy} word={word} />
      <span className="policy-text">{say(policyText(policy, word))}</span>
      <span className="code-tag">{[word, ...limitsOf(policy, schedule)].join(' · ')}</span>
    </section>
  )
}

/** The numbers that go with a policy, in the names of the API. */
function limitsOf(policy: Policy, schedule: ScheduleView): readonly string[] {
  const { failure_options: options } = schedule
  switch (policy) {
    case 'misfire':
      return schedule.misfire_policy === 'CATCH_UP_LIMITED' ? [`catchup_limit ${schedule.catchup_limit}`] : []
    case 'overlap':
      return schedule.max_parallel === null ? [] : [`max_parallel ${schedule.max_parallel}`]
    case 'concurrency':
      return [`max_concurrency ${schedule.max_concurrency}`, `queue_depth ${schedule.queue_depth}`]
    case 'failure':
      if (schedule.failure_action === 'BACKOFF') return [`${options.ladder_seconds.join(', ')} s`]
      return schedule.failure_action === 'HALF_OPEN' ? [`${options.threshold} × / ${options.cooldown_seconds} s`] : []
  }
}

function factsOf(schedule: ScheduleView, say: Say): readonly (readonly [name: string, text: string])[] {
  const form = formOf(schedule)
  const { waits, isCut } = retryWaits(form)
  const seconds = (n: number): string => spanText(n * 1_000, say)
  const retries =
    schedule.failure_action === 'RETRY'
      ? say('edit.retry.off')
      : schedule.retry_policy === null
        ? say('edit.retry.usual')
        : waits.length === 0
          ? say('edit.retry.once')
          : say('one.retryWaits', { waits: waits.map((ms) => spanText(ms, say)).join(', ') + (isCut ? ' …' : '') })
  return [
    [say('edit.retry'), retries],
    [
      say('one.timeout'),
      schedule.timeout_seconds === null ? say('edit.timeout.usual') : seconds(schedule.timeout_seconds),
    ],
    [say('edit.session'), form.session_as === 'named' ? form.session : say(`edit.session.${form.session_as}`)],
    [say('edit.target'), schedule.delivery?.target_id ?? say('edit.target.none')],
    [say('edit.maxFires'), schedule.max_fires === null ? say('edit.unlimited') : String(schedule.max_fires)],
    [say('one.spread'), schedule.jitter_ms === 0 ? say('none') : spanText(schedule.jitter_ms, say)],
  ]
}
