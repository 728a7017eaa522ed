import { setTimeout as sleep } from 'node:timers/promises'
import type { Abuse, Scenario } from './abuse.ts'
import { until, type Asked } from './target.ts'
import { dial, exchange, hostLine, keyLine } from './wire.ts'

const READERS = 4
/** So many runs say so much at a time, about as much as is told of a run at once; everybody who listens is told all of it. */
const RUNS = 20
const SAYINGS = [{ text: 'x'.repeat(16_000) }]
const MOST_ROUNDS = 120
/** Sayings are collected for a moment, and what comes in one moment is cut. */
const ROUND_MS = 130
const MOST_GROWTH_MB = 250
const AGENT = 'fuzz-talker'

interface SlowReader {
  readonly socket: ReturnType<typeof dial>
  text: string
  isOver: boolean
}

/** Listens, reads nothing until it is over, and then what is left. */
function readSlowly(bytes: string, port: number): SlowReader {
  const socket = dial(port)
  const reader: SlowReader = { socket, text: '', isOver: false }
  socket.on('data', (part: Buffer) => (reader.text += part.toString()))
  socket.on('close', () => (reader.isOver = true))
  socket.write(bytes)
  return reader
}

/** Somebody who listens to everything and reads nothing is sent away, costs little, and misses nothing on coming back. */
export const slowReaders: Scenario = async (abuse) => {
  const { target, find } = abuse
  const listen = (after = ''): string =>
    `GET /api/v1/events HTTP/1.1\r\n${hostLine(target)}${keyLine(target)}${after}\r\n`
  const before = target.uses().megabytes
  const readers = Array.from({ length: READERS }, () => readSlowly(listen(), target.port))
  await until(() => readers.every(({ text }) => text.includes('retry:')), 5_000)
  for (const { socket } of readers) socket.pause()
  const cutOff = (): number => target.log().filter(({ why }) => why === 'slow').length
  const { sent, most } = await talk(abuse, () => cutOff() >= READERS)
  const where = 'slow readers'
  if (cutOff() < READERS) find({ where, message: `${cutOff()} of ${READERS} were sent away after ${sent} sayings` })
  if (most - before > MOST_GROWTH_MB) find({ where, message: `the server grew by ${most - before} MB` })
  for (const { socket } of readers) socket.resume()
  await until(() => readers.every(({ isOver }) => isOver), 5_000)
  for (const { socket } of readers) socket.destroy()
  await comesBack(abuse, { texts: readers.map(({ text }) => text), listen })
  return sent
}

/** Lets runs say more and more until something holds; answers how often, and how large the server became. */
async function talk(
  { target, note, find }: Abuse,
  isOver: () => boolean,
): Promise<{ readonly sent: number; readonly most: number }> {
  const attempts = await beginRuns(target)
  if (attempts.length < RUNS)
    find({ where: 'slow readers', message: `a worker got ${attempts.length} runs of ${RUNS}` })
  const post = (attempt: string, what: string, body: unknown): Promise<Asked> =>
    target.ask('POST', `/api/v1/worker/attempts/${attempt}/${what}`, body)
  let [sent, most] = [0, 0]
  for (; sent < MOST_ROUNDS && !isOver(); sent += 1) {
    note('slow readers', sent)
    const said = await Promise.all(attempts.map((attempt) => post(attempt, 'events', { events: SAYINGS })))
    const bad = said.find(({ status, body }) => status !== 200 || body['ignored'] === true)
    if (bad !== undefined) find({ where: 'slow readers', message: `a saying got ${JSON.stringify(bad)}` })
    most = Math.max(most, target.uses().megabytes)
    await sleep(ROUND_MS)
  }
  await Promise.all(attempts.map((attempt) => post(attempt, 'complete', { status: 'success' })))
  return { sent, most }
}

/** Runs of an agent that we are the worker of; answers with their attempts. */
async function beginRuns({ ask }: Abuse['target']): Promise<readonly string[]> {
  await ask('POST', '/api/v1/agents', { id: AGENT, name: AGENT, executor: { kind: 'worker' } })
  for (let count = 0; count < RUNS; count += 1) {
    const made = await ask('POST', '/api/v1/schedules', { agent_id: AGENT, every_seconds: 86_400 })
    await ask('POST', `/api/v1/schedules/${String(made.body['id'])}/run-now`)
  }
  const attempts: string[] = []
  let worker: unknown = null
  for (let times = 0; times < 10 && attempts.length < RUNS; times += 1) {
    const claim = { worker_id: worker, agents: [AGENT], capacity: RUNS, holding: attempts, wait_seconds: 1 }
    const { body } = await ask('POST', '/api/v1/worker/claim', claim)
    worker = body['worker_id']
    const fresh = (body['attempts'] ?? []) as readonly { readonly attempt_id: string }[]
    for (const { attempt_id: id } of fresh) await ask('POST', `/api/v1/worker/attempts/${id}/start`)
    attempts.push(...fresh.map(({ attempt_id: id }) => id))
  }
  return attempts
}

/** The ids of events. Heartbeats have ids too, but nothing to tell. */
const idsIn = (text: string): readonly string[] =>
  text
    .split('\n\n')
    .filter((block) => /^data: /m.test(block))
    .flatMap((block) => /^id: (.*)$/m.exec(block)?.[1] ?? [])

/** Goes on from the last whole event: nothing is told twice, and everything that somebody else was told is told. */
async function comesBack(
  { target, find }: Abuse,
  { texts, listen }: { readonly texts: readonly string[]; readonly listen: (after?: string) => string },
): Promise<void> {
  const where = 'slow readers coming back'
  const whole = texts.map((text) => text.slice(0, text.lastIndexOf('\n\n') + 2))
  const [first = ''] = whole
  const began = idsIn(first)[0]
  if (began === undefined) {
    find({ where, message: 'a slow reader was told of nothing at all' })
    return
  }
  const read = async (id: string): Promise<readonly string[]> => {
    const { text } = await exchange(target, listen(`Last-Event-ID: ${id}\r\n`), { withinMs: 3_000 })
    return idsIn(text.slice(0, text.lastIndexOf('\n\n') + 2))
  }
  const all = [began, ...(await read(began))]
  const last = idsIn(first).at(-1) ?? began
  const rest = await read(last)
  const told = [...idsIn(first), ...rest]
  const missing = all.slice(0, told.length).findIndex((id, index) => id !== told[index])
  if (missing !== -1 || rest.length === 0)
    find({
      where,
      message: `after ${last} came ${rest.length} events; number ${missing} is not ${all[missing] ?? 'there'}`,
    })
}
