import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../src/api/refusals.ts'
import type { CallOptions } from '../../src/client/calls.ts'
import type { Random } from '../simulation/random.ts'
import type { Journal } from './journal.ts'
import type { ManyOrgs, OrgDoor } from './many-orgs.ts'
import { LARGE_ORG, type PlannedOrg } from './orgs.ts'
import type { SubmissionLine } from './records.ts'
import { trueNow } from './wall-clock.ts'
import { wordsOf, type Order } from './work.ts'

export interface TrafficOptions {
  readonly node: ManyOrgs
  readonly orgs: readonly PlannedOrg[]
  readonly journal: Journal<SubmissionLine>
  readonly random: Random
  /** Makes the ids of this process unlike those of all others. */
  readonly process: string
  readonly perSecond: number
}

export interface Traffic {
  /** Sends no more and waits for the answers that are on their way. */
  readonly stop: () => Promise<void>
}

const TICK_MS = 20

/** Answers on their way at most. Without a bound a database that is away would be met by an avalanche. */
const MOST_IN_FLIGHT = 150

const SHARE_OF_TASKS = 0.35

/** Submissions that carry a key and are sent again with it when nobody knows what became of them. */
const SHARE_WITH_KEY = 0.5
const RESEND_AFTER_MS = 200

/** Whoever sends, for as long as traffic goes on. */
interface Sender extends TrafficOptions {
  readonly stopping: AbortSignal
}

/** Where one submission goes. */
interface Errand {
  readonly id: string
  readonly org: PlannedOrg
  readonly door: OrgDoor
}

/** Sends submissions of all kinds at an even rate until it is stopped. */
export function startTraffic(options: TrafficOptions): Traffic {
  const stopping = new AbortController()
  const sender: Sender = { ...options, stopping: stopping.signal }
  const onTheirWay = new Set<Promise<void>>()
  let allowance = 0
  let last = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const now = performance.now()
    // A process that was stopped makes up for half a second of it at most.
    allowance = Math.min(allowance + ((now - last) * options.perSecond) / 1_000, options.perSecond / 2)
    last = now
    for (; allowance >= 1 && onTheirWay.size < MOST_IN_FLIGHT; allowance -= 1) {
      const sending = sendOne(sender, (sent += 1)).finally(() => onTheirWay.delete(sending))
      onTheirWay.add(sending)
    }
  }, TICK_MS)
  return {
    stop: async () => {
      clearInterval(timer)
      stopping.abort()
      await Promise.allSettled(onTheirWay)
    },
  }
}

async function sendOne(options: Sender, number: number): Promise<void> {
  const { random, node, orgs, process } = options
  const org = pick(random, orgs, ({ share }) => share)
  const errand = { id: `${process}-${number}`, org, door: node.of(org.id) }
  if (random.chance(SHARE_OF_TASKS)) await sendTask(options, errand)
  else await sendMessage(options, errand)
}

async function sendMessage(options: Sender, { id, org, door }: Errand): Promise<void> {
  const { random } = options
  const session = pick(random, org.sessions, ({ weight }) => weight)
  if (session.kind === 'stopped' && random.chance(0.1)) {
    // A command makes no run, so it has no place in the journal; whether it got through does not matter.
    await door.sessions.send(session.key, random.one(['/stop', '/stopall'])).catch(() => undefined)
    return
  }
  const text = wordsOf(orderOf(random, { id, org }, session.work))
  const message = session.kind === 'debounce' ? { text, sender: random.one(['ann', 'bob']) } : { text }
  await submit(options, { id, to: session.key }, async (once) => {
    const receipt = await door.sessions.send(session.key, message, once)
    if (!('run_id' in receipt)) throw new Error(`a message was taken for a command: ${text}`)
    return { run: receipt.merged_into ?? receipt.run_id, dropped: receipt.dropped_run_id ?? null }
  })
}

async function sendTask(options: Sender, { id, org, door }: Errand): Promise<void> {
  const { random } = options
  const agentId = random.one(org.taskAgents)
  const words = wordsOf(orderOf(random, { id, org }, [2, 25]))
  const retry_policy = { max_retries: 2, strategy: 'fixed' as const, base_ms: 200 }
  const plain = { agentId, action: 'click', params: { words }, priority: random.int(-1, 1) }
  const task = random.chance(0.5) ? { ...plain, retry_policy } : plain
  await submit(options, { id, to: agentId }, async (once) => {
    const receipt = await door.tasks.submit(task, once)
    if (random.chance(0.01)) await door.tasks.cancel(receipt.taskId).catch(() => undefined)
    return { run: receipt.taskId, dropped: null }
  })
}

function orderOf(random: Random, { id, org }: Pick<Errand, 'id' | 'org'>, work: readonly [number, number]): Order {
  // The agents of small orgs keep the usual retries, which take longer than this lasts.
  if (org.id !== LARGE_ORG) return { id, workMs: random.int(...work), fails: 'never' }
  // A few take long, so that faults meet work in progress.
  const workMs = random.chance(0.01) ? random.int(500, 2_500) : random.int(...work)
  const fails = random.chance(0.02) ? (random.chance(0.7) ? 'once' : 'for_good') : 'never'
  return { id, workMs, fails }
}

/** One of them, by their weights. */
function pick<T>(random: Random, items: readonly T[], weightOf: (item: T) => number): T {
  let left = random.next() * items.reduce((sum, item) => sum + weightOf(item), 0)
  for (const item of items) {
    left -= weightOf(item)
    if (left < 0) return item
  }
  return random.one(items)
}

/**
 * Writes down that it is sent, sends it, and writes down the answer before anybody can count on it. What has a key is
 * sent again with it until there is an answer: kept once or never, however often it was sent.
 */
async function submit(
  { journal, random, stopping }: Sender,
  { id, to }: { readonly id: string; readonly to: string },
  send: (once: CallOptions) => Promise<{ readonly run: string; readonly dropped: string | null }>,
): Promise<void> {
  const once: CallOptions = random.chance(SHARE_WITH_KEY) ? { idempotencyKey: `chaos-${id}` } : {}
  journal.write({ kind: 'sent', id, at: trueNow(), to })
  for (;;) {
    try {
      const { run, dropped } = await send(once)
      journal.write({ kind: 'accepted', id, at: trueNow(), run, dropped })
      return
    } catch (error) {
      const line = lineOfError(id, error)
      journal.write(line)
      if (line.kind !== 'failed' || once.idempotencyKey === undefined || stopping.aborted) return
    }
    await sleep(RESEND_AFTER_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** A refusal is an answer. Everything else leaves open what happened, a database that is away too. */
function lineOfError(id: string, error: unknown): SubmissionLine {
  const at = trueNow()
  if (error instanceof Refusal && error.code !== 'DATABASE_AWAY' && error.code !== 'NOT_STARTED')
    return { kind: 'refused', id, at, code: error.code, run: error.runId }
  const code = error instanceof Refusal ? error.code : error instanceof Error ? `${error.name}: ${error.message}` : ''
  return { kind: 'failed', id, at, error: code === '' ? String(error) : code }
}
