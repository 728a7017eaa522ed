import type { RunDetail, RunView } from '../../features/runs/schema.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { agoText, lengthText, momentText } from '../output/times.ts'
import type { Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'
import { whySentence } from './explain-look.ts'

export const NO_RUNS = 'No runs. Make one: escapement schedules run ID'

/** Runs as a table. */
export const runColumns = ({ now, style }: Talk): readonly Column<RunView>[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ status }) => status, paint: (text) => paintState(style, text) },
  { title: 'REASON', of: ({ reason }) => valueText(reason), flexible: true },
  { title: 'TRIGGER', of: ({ trigger }) => trigger },
  { title: 'AGENT', of: ({ agent_id }) => agent_id, flexible: true },
  { title: 'MADE', of: ({ created_at }) => agoText(created_at, now) },
  { title: 'TOOK', of: ({ duration_ms }) => (duration_ms === null ? '-' : lengthText(duration_ms)), right: true },
  { title: 'RESULT', of: resultOf, flexible: true },
]

const resultOf = (run: RunView): string =>
  run.error_message ?? run.error_code ?? valueText(run.result_summary ?? run.output)

const deliveriesText = ({ deliveries }: RunDetail): string =>
  deliveries.map(({ id, status, sentence }) => `${id}  ${status}  ${oneLine(sentence)}`).join('\n')

/** One run with everything there is to know about it. */
export function runFacts({ now, style }: Talk, run: RunDetail): Facts {
  const attempts = run.attempts.map(
    ({ number, status, node_id, error_message }) =>
      `${number}  ${paintState(style, status ?? 'running')}  on ${node_id ?? 'no node'}${error_message === null ? '' : `  ${oneLine(error_message)}`}`,
  )
  const timeline = run.timeline.map(
    ({ at, status, reason }) => `${at}  ${paintState(style, status)}${reason === null ? '' : `  ${style.dim(reason)}`}`,
  )
  return [
    ['id', run.id],
    ['status', paintState(style, run.status)],
    ['why', whySentence(run.why)],
    ['trigger', run.trigger],
    ['agent', run.agent_id],
    ['schedule', run.schedule_id],
    ['session', run.session_key === null ? null : oneLine(run.session_key)],
    ['agent session', run.agent_session_id === null ? null : oneLine(run.agent_session_id)],
    ['agent message', run.agent_message_id === null ? null : oneLine(run.agent_message_id)],
    ['planned for', momentText(run.nominal_time, now)],
    ['made', momentText(run.created_at, now)],
    ['took', run.duration_ms === null ? null : lengthText(run.duration_ms)],
    ['repeats', run.retry_of],
    [
      'error',
      run.error_code === null
        ? null
        : [run.error_code, ...(run.error_message === null ? [] : [manyLines(run.error_message)])].join(': '),
    ],
    ['agent error code', run.agent_error_code === null ? null : oneLine(run.agent_error_code)],
    ['summary', run.result_summary === null ? null : manyLines(valueText(run.result_summary))],
    ['output', run.output === null ? null : manyLines(valueText(run.output))],
    ['attempts', attempts.length === 0 ? 'none' : attempts.join('\n')],
    ['deliveries', run.deliveries.length === 0 ? null : deliveriesText(run)],
    ['timeline', timeline.join('\n')],
  ]
}
