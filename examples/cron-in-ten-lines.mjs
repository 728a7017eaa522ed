// A cron schedule that fires three times, and the record it leaves: node examples/cron-in-ten-lines.mjs [directory]
import { createEscapement, drainOnSignals } from 'escapement'

const clerk = (run) => `${run.payload.prompt}: written`
const escapement = createEscapement({ database: { data: process.argv[2] ?? './.escapement' }, agents: { clerk } })
drainOnSignals(escapement)
await escapement.start()
const lastMoment = new Promise((resolve) => {
  escapement.on('schedule.changed', ({ data }) => data.state === 'finished' && resolve())
})
const report = { agent_id: 'clerk', cron: '* * * * * *', max_fires: 3, payload: 'report' }
const { id, sentence } = await escapement.schedules.create(report)
console.log(`${sentence}, at most 3 times:`)
await lastMoment

// Each occurrence has exactly one run with a reason. The runs of a deleted schedule are kept.
await escapement.schedules.delete(id)
const { items } = await escapement.runs.list({ schedule_id: id })
for (const run of items.toReversed()) {
  const { status, output, decision, started_at } = await escapement.runs.wait(run.id)
  const late = Date.parse(started_at) - Date.parse(run.nominal_time)
  console.log(`${run.nominal_time} ${status} because it was ${decision.reason}, ${late} ms late: ${output}`)
}
await escapement.stop()
