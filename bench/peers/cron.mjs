// Cron libraries for the part `next`. cron-schedule supports only the zone of the host, so its process runs in UTC.
import { parseCronExpression } from 'cron-schedule'
import { CronosExpression } from 'cronosjs'

/** Each prepares all expressions for a zone and returns (index of the expression, from) → time. */
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
