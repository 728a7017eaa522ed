// A session keeps its order, and active runs can be stopped: node examples/chat-with-stop.mjs [directory]
import { setTimeout as sleep } from 'node:timers/promises'
import { createEscapement, drainOnSignals } from 'escapement'

/** A slow model: it works for a second and stops at once when it is aborted. */
async function poet(run, { signal }) {
  console.log(`  poet begins: ${run.payload.text}`)
  await sleep(1_000, undefined, { signal })
  return `an ode about ${run.payload.text}`
}

const escapement = createEscapement({ database: { data: process.argv[2] ?? './.escapement' }, agents: { poet } })
drainOnSignals(escapement)
await escapement.start()

// The key names the agent and the session. Each execution of this program has its own session.
const chat = `agent:poet:example:direct:${process.pid}-${Date.now()}`
const somethingRuns = async () => {
  while ((await escapement.sessions.get(chat)).active === 0) await sleep(10)
}
const tell = async (receipt) => {
  const run = await escapement.runs.wait(receipt.run_id)
  console.log(`  ${run.status} (${run.reason}): ${run.output ?? 'no output'}`)
}

console.log('Three messages arrive together. They run one after the other, in the order they came:')
const spring = await escapement.sessions.send(chat, 'spring')
const rain = await escapement.sessions.send(chat, 'rain')
const snow = await escapement.sessions.send(chat, 'snow')
await somethingRuns()

console.log('/stop ends what is running now. The rest goes on:')
console.log(' ', await escapement.sessions.send(chat, '/stop'))
await tell(spring)
await tell(rain)
await somethingRuns()

console.log('/stopall ends what is running and what waits:')
const fog = await escapement.sessions.send(chat, 'fog')
console.log(' ', await escapement.sessions.send(chat, '/stopall'))
await tell(snow)
await tell(fog)

console.log('A message after that is answered as ever:')
const answer = await escapement.sessions.ask(chat, 'the sun')
console.log(`  ${answer.status}: ${answer.output}`)
await escapement.stop()
