import type { ScheduleView } from '../../contract/schedule.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import type { Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'
import { probeFacts } from '../../features/probes/cli-options.ts'
import { approvalFacts } from './schedule-approval.ts'

/** Schedules as a table. */
export const scheduleColumns = ({ now, style }: Talk): readonly Column<ScheduleView>[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => valueText(name), flexible: true },
  { title: 'STATE', of: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'WHEN', of: ({ sentence }) => sentence, flexible: true },
  { title: 'AGENT', of: ({ agent_id, executor }) => agent_id ?? executor?.kind ?? '', flexible: true },
  { title: 'NEXT', of: ({ next_run_at }) => agoText(next_run_at, now) },
  { title: 'LAST', of: ({ last_status }) => valueText(last_status), paint: (text) => paintState(style, text) },
]

const budgetText = ({ amount, unit, period, on_exceed: action, id }: NonNullable<ScheduleView['budget']>): string =>
  `${amount} ${unit} per ${period}, then ${action} (${id})`

const receiverOf = (target: string, { delivery_disabled: isOff }: ScheduleView): string =>
  isOff ? `${target}, which is switched off: results are held` : target

/** One schedule with what matters of it. */
export function scheduleFacts(talk: Talk, schedule: ScheduleView): Facts {
  const { now, style } = talk
  return [
    ['id', schedule.id],
    ['name', oneLine(valueText(schedule.name))],
    ['description', schedule.description === '' ? null : manyLines(schedule.description)],
    ['state', paintState(style, schedule.state)],
    ['when', schedule.sentence],
    ['pace', schedule.pace === null ? null : schedule.pace.sentence],
    ['because', schedule.pace === null ? null : schedule.pace.because.sentence],
    ['next run', momentText(schedule.next_run_at, now) ?? 'none'],
    ['notes', schedule.notes === undefined ? null : schedule.notes.map(oneLine).join('\n')],
    ['last run', momentText(schedule.last_run_at, now) ?? 'none yet'],
    ['last status', schedule.last_status === null ? null : paintState(style, schedule.last_status)],
    ['last error', schedule.last_error === null ? null : manyLines(schedule.last_error)],
    ['failures', schedule.failure_streak === 0 ? null : `${schedule.failure_streak} in a row`],
    ['fires', String(schedule.fires)],
    ['agent', schedule.agent_id],
    ['executor', schedule.executor === null ? null : oneLine(JSON.stringify(schedule.executor))],
    ['session', oneLine(schedule.session)],
    ['lane', schedule.lane],
    ['delivers to', schedule.delivery === null ? null : receiverOf(schedule.delivery.target_id, schedule)],
    ['budget', schedule.budget === null ? null : budgetText(schedule.budget)],
    ...probeFacts(talk, schedule),
    ['payload', schedule.payload === null ? null : manyLines(valueText(schedule.payload))],
    ['missed', `${schedule.misfire_policy}, at most ${schedule.catchup_limit}`],
    ['overlap', schedule.overlap_action],
    ['failure', schedule.failure_action],
    ['slots', `${schedule.max_concurrency}, then ${schedule.concurrency_policy}`],
    ['made', `${momentText(schedule.created_at, now) ?? ''} by ${schedule.created_by ?? 'the program'}`],
    ...approvalFacts(schedule),
    ['version', String(schedule.version)],
  ]
}
