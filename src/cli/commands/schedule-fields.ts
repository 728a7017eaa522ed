import { scheduleInput } from '../../contract/schedule.ts'
import { seconds, textOrJson, json, type ReadText } from '../remote/fields.ts'
import { optionsOf, type Overrides } from '../remote/schema-options.ts'
import { EXECUTOR } from '../../features/agents/cli-executor.ts'

const target: ReadText = (text) => ({ target_id: text })

const BUDGET = /^([\d.]+) (tokens|money)(?: per (day|month))?$/

/** `5000 tokens per day`, as JSON, or `none`, which takes the budget away. */
const readBudget: ReadText = (text, about) => {
  if (text === 'none') return null
  const [, amount, unit, period] = BUDGET.exec(text.trim()) ?? []
  if (amount === undefined) return json(text, about)
  return { amount: Number(amount), unit, ...(period === undefined ? {} : { period }) }
}

/** `5m..6h`, as JSON, or `none`, which lets the interval stay as it is. */
const readCadence: ReadText = (text, about) => {
  if (text === 'none') return null
  const [low, high, ...more] = text.split('..')
  if (low === undefined || high === undefined || more.length > 0) return json(text, about)
  return { min_seconds: seconds(low.trim(), about), max_seconds: seconds(high.trim(), about) }
}

/** The fields of a schedule that say when it fires. */
export const TIMING = [
  ...['cron', 'every_seconds', 'cadence', 'at', 'rrule', 'timezone', 'anchor'],
  ...['dst', 'day_match', 'starts_at', 'ends_at', 'exclude'],
]

/** Where options of a schedule differ from their fields. */
export const SCHEDULE_FLAGS: Overrides = {
  executor: EXECUTOR,
  cadence: { flags: '--cadence <range|json>', read: readCadence, hint: 'as in 5m..6h, JSON, or none' },
  payload: { flags: '--payload <text|json>', also: '--prompt <text>', read: textOrJson },
  budget: {
    flags: '--budget <text|json>',
    read: readBudget,
    hint: 'as in "5000 tokens per day", "10 money per month", JSON, or none',
  },
  delivery: { flags: '--deliver-to <id>', read: target },
  // It has options of its own.
  probe: null,
  kind: null,
  status: null,
}

/** The options of a schedule. */
export const SCHEDULE_FIELDS = optionsOf(scheduleInput, SCHEDULE_FLAGS)
