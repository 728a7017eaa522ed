import { readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServeWorld, removeProgram, type LogLine } from '../../serve/support.ts'
import type { Place } from './wire.ts'

/** A server in a process of its own, which is there to be abused. */
export interface Target extends Place {
  readonly url: string
  /** Asks as a well-behaved client would. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<Asked>
  /** One piece of work from beginning to end; answers what is wrong, or null. */
  readonly roundTrip: () => Promise<string | null>
  /** What it uses now; zeros where the system does not say. */
  readonly uses: () => Uses
  /** Lines of its log that nobody wants to see, raw. */
  readonly complaints: () => readonly string[]
  readonly log: () => readonly LogLine[]
  /** How it ended; null while it lives. */
  readonly ending: () => string | null
  readonly end: () => Promise<void>
}

export interface Asked {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface Uses {
  readonly descriptors: number
  readonly megabytes: number
}

/** Starts one on a database of its own. */
export async function startTarget(): Promise<Target> {
  const world = await createServeWorld()
  const served = world.spawn()
  const url = await served.url
  if (url === '') throw new Error(`the server did not start: ${served.stderr()}`)
  const key = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
  let ending: string | null = null
  void served.ended.then((how) => (ending = String(how)))
  const ask: Target['ask'] = async (method, to, body) => {
    const answer = await fetch(`${url}${to}`, {
      ...{ method, signal: AbortSignal.timeout(20_000) },
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Asked['body'] }
  }
  return {
    ...{ port: Number(new URL(url).port), key, url, ask, log: served.log, ending: () => ending },
    roundTrip: () => roundTrip(ask),
    uses: () => usesOf(served.child.pid ?? 0),
    complaints: () => complaintsIn(served.stderr()),
    end: async () => {
      await world.end()
      removeProgram()
    },
  }
}

async function roundTrip(ask: Target['ask']): Promise<string | null> {
  try {
    const sent = await ask('POST', '/api/v1/sessions/fuzz%3Around/messages?wait=15', { text: 'hello' })
    const { status } = sent.body as { readonly status?: unknown }
    return sent.status < 300 && status === 'success'
      ? null
      : `a message got ${sent.status} ${JSON.stringify(sent.body)}`
  } catch (error) {
    return `a message got no answer: ${String(error)}`
  }
}

function usesOf(pid: number): Uses {
  try {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return { descriptors: readdirSync(`/proc/${pid}/fd`).length, megabytes: Math.round(Number(kilobytes ?? 0) / 1_024) }
  } catch {
    // Not every system has it, and a process that has ended has nothing.
    return { descriptors: 0, megabytes: 0 }
  }
}

/** Errors, stacks, warnings of Node, and control characters that came over the wire and were written as they are. */
function complaintsIn(text: string): readonly string[] {
  return text.split('\n').filter(
    (line) =>
      line !== '' &&
      (!line.startsWith('{') ||
        line.includes('"level":"error"') ||
        /unhandled|Warning: /i.test(line) ||
        // eslint-disable-next-line no-control-regex -- these are what is looked for
        /[\u0000-\u001f\u007f-\u009f]/.test(line)),
  )
}

/** How much longer than on a quiet machine things may take here. */
export const stretch = (): number => Math.max(1, (os.loadavg()[0] ?? 0) / os.availableParallelism())

/** Waits until something holds; answers whether it came to that. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  while (performance.now() < deadline) {
    if (await holds()) return true
    await sleep(50)
  }
  return holds()
}
