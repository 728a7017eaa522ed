import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../simulation/random.ts'
import { ATTACKS } from './attacks.ts'
import { createClient } from './client.ts'

// The attacker in a process of its own, so that what it does costs those who measure nothing but what it costs a server.

interface Orders {
  readonly urls: readonly string[]
  readonly key: string
  readonly adminKey: string
  readonly attackers: number
  readonly seed: number
  readonly untilMs: number
}

/** What became of the attacks. */
export interface Tally {
  /** By name and status; `error`: no answer. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly slowestMs: number
}

/** Longer than this a refused attacker does not rest. */
const PAUSE_MS = 20

const orders = JSON.parse(process.argv[2] ?? '') as Orders
const random = createRandom(orders.seed)
const clients = orders.urls.map((url) => ({
  client: createClient(url, orders.key),
  admin: createClient(url, orders.adminKey),
}))
const answers: Record<string, Record<string, number>> = {}
let slowestMs = 0

function note(name: string, status: number | string): void {
  const of = (answers[name] ??= {})
  of[status] = (of[status] ?? 0) + 1
}

async function attack(): Promise<void> {
  const names = Object.keys(ATTACKS)
  while (Date.now() < orders.untilMs) {
    const name = random.one(names)
    const began = performance.now()
    await ATTACKS[name]?.({ ...random.one(clients), random })
      .then((all) => {
        for (const { status } of all) note(name, status)
      })
      .catch(() => note(name, 'error'))
    slowestMs = Math.max(slowestMs, performance.now() - began)
    await sleep(PAUSE_MS)
  }
}

await Promise.all(Array.from({ length: orders.attackers }, attack))
const tally: Tally = { answers, slowestMs }
process.stdout.write(`${JSON.stringify(tally)}\n`)
process.exit(0)
