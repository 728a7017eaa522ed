// Libraries that answer when a cron expression comes next and that nothing else here needs. cron-schedule reads the zone of
// the host and no other; its process is told that this is UTC.
import { parseCronExpression } from 'cron-schedule'
import { CronosExpression } from 'cronosjs'

/** Each prepares all expressions for a zone and answers with how to ask: (number of the expression, from) → instant. */
export const CRON = {
  cronosjs: (expressions, zone) => {
    const jobs = expressions.map((text) => CronosExpression.parse(text, { timezone: zone }))
    return (index, from) => jobs[index].nextDate(new Date(from)).getTime()
  },
  'cron-schedule': (expressions) => {
    const jobs = expressions.map((text) => parseCronExpression(text))
    return (index, from) => jobs[index].getNextDate(new Date(from)).getTime()
  },
}
