import { setTimeout as sleep } from 'node:timers/promises'
import { demand, type Client } from './client.ts'

/** What the org that must not notice has asked for. */
export interface Journal {
  /** When each piece of work was submitted, by its mark. */
  readonly sent: Map<string, number>
  /** Requests that were refused or not answered. */
  readonly refused: string[]
  /** How long each request took, in milliseconds. */
  readonly answerMs: number[]
}

const SCHEDULES = 3

/** Creates the agents and schedules of the org. */
export async function settleIn(owner: Client, agentUrl: string): Promise<void> {
  const agent = { id: 'quick', name: 'Quick', executor: { kind: 'http', url: `${agentUrl}/quick` } }
  await demand(owner, { path: '/api/v1/agents', body: agent })
  for (let index = 0; index < SCHEDULES; index += 1)
    await demand(owner, {
      path: '/api/v1/schedules',
      body: { name: `often ${index}`, agent_id: 'quick', every_seconds: 2, payload: 'look' },
    })
}

/** Submits messages at a steady pace, one conversation each, and reads a list now and then. */
export async function work(
  clients: readonly Client[],
  { untilMs, perSecond }: { readonly untilMs: number; readonly perSecond: number },
): Promise<Journal> {
  const journal: Journal = { sent: new Map(), refused: [], answerMs: [] }
  const asking: Promise<void>[] = []
  for (let index = 0; Date.now() < untilMs; index += 1) {
    const client = clients[index % clients.length]
    if (client !== undefined) asking.push(submit(client, journal, index))
    await sleep(1_000 / perSecond)
  }
  await Promise.all(asking)
  return journal
}

const READ_EVERY = 20

async function submit(client: Client, journal: Journal, index: number): Promise<void> {
  const mark = `mark-${index}`
  const key = encodeURIComponent(`agent:quick:api:direct:${index}`)
  const began = Date.now()
  journal.sent.set(mark, began)
  const asked =
    index % READ_EVERY === 0
      ? { path: '/api/v1/runs?limit=20' }
      : { path: `/api/v1/sessions/${key}/messages`, body: { text: mark, debounce_ms: 0 } }
  if (index % READ_EVERY === 0) journal.sent.delete(mark)
  const answer = await client(asked).catch((error: unknown) => String(error))
  journal.answerMs.push(Date.now() - began)
  if (typeof answer === 'string') journal.refused.push(answer)
  else if (answer.status >= 300) journal.refused.push(`${answer.status} ${answer.text.slice(0, 200)}`)
}
