// A busy agent cannot starve a quiet one: node examples/fair-tasks.mjs [directory]
import { setTimeout as sleep } from 'node:timers/promises'
import { createEscapement, drainOnSignals, Refusal } from 'escapement'

const order = []
async function work(run) {
  order.push(run.payload.action)
  await sleep(150)
}

const escapement = createEscapement({
  database: { data: process.argv[2] ?? './.escapement' },
  agents: { busy: work, quiet: work },
  lanes: { task: 2 },
  tasks: { max_per_agent: 12 },
})
drainOnSignals(escapement)
await escapement.start()

const tasks = (agentId, count) => ({
  agentId,
  tasks: Array.from({ length: count }, (_, index) => ({ action: `${agentId}-${index + 1}` })),
})

console.log('Two slots. "busy" submits 12 tasks, then "quiet" submits 3, then "busy" submits an urgent one:')
const { tasks: busy } = await escapement.tasks.batch(tasks('busy', 12))
const { tasks: quiet } = await escapement.tasks.batch(tasks('quiet', 3))
const urgent = await escapement.tasks.submit({ agentId: 'busy', action: 'busy-urgent', priority: -1 })

console.log('The queue of an agent is limited. Further tasks are refused and recorded as rejected:')
try {
  for (;;) await escapement.tasks.submit({ agentId: 'busy', action: 'too-much' })
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  const { state } = await escapement.tasks.get(error.runId)
  console.log(`  ${error.code}, status ${error.status}: the task is ${state}`)
}

console.log('Queued tasks can be cancelled:')
const { tasks: queued } = await escapement.tasks.list({ agentId: 'busy', state: 'queued' })
for (const { taskId, action } of queued)
  if (action === 'too-much') console.log(`  ${action}: ${(await escapement.tasks.cancel(taskId)).status}`)

for (const { taskId } of [...busy, ...quiet, urgent]) await escapement.runs.wait(taskId)
console.log('The order in which they started. The agent with the least work in progress is next:')
console.log(`  ${order.join(' ')}`)
await escapement.stop()
