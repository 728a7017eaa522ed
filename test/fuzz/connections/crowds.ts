import { setTimeout as sleep } from 'node:timers/promises'
import type { Abuse, Scenario } from './abuse.ts'
import type { GuestReport } from './guest-process.ts'
import { stretch, until, type Asked } from './target.ts'
import { exchange, hostLine, keyLine, statusesIn } from './wire.ts'

/** Two thousand at once, and then more than there may be. */
const CROWD = { streams: 1_100, sockets: 600, idle: 300 }
const MORE = { streams: 450, sockets: 200, idle: 0 }
const MOST_STREAMS = 1_500
const MOST_SOCKETS = 750
const RUNS = 20

/** A crowd that listens while work goes on, is stopped and goes on, and is refused beyond the limits. */
export const crowd: Scenario = async (abuse) => {
  const { guests, find, note, say } = abuse
  note('crowd', CROWD)
  const opened = await guests.open(CROWD)
  if (opened.streams !== CROWD.streams || opened.sockets !== CROWD.sockets || opened.idle !== CROWD.idle)
    find({ where: 'crowd', message: `of ${JSON.stringify(CROWD)} there are ${shownCrowd(opened)}` })
  say(`  ${opened.streams + opened.sockets + opened.idle} connections`)
  const sent = await work(abuse, 'crowd while listening')
  await everybodyHears(abuse, 'crowd while listening', sent)
  guests.signal('SIGSTOP')
  const more = await work(abuse, 'crowd while stopped')
  await sleep(1_000)
  guests.signal('SIGCONT')
  await everybodyHears(abuse, 'crowd while stopped', sent + more)
  await beyond(abuse)
  await full(abuse)
  return opened.streams + opened.sockets + opened.idle + MORE.streams + MORE.sockets + sent + more
}

const shownCrowd = ({ streams, sockets, idle, refused }: GuestReport): string =>
  JSON.stringify({ streams, sockets, idle, refused })

/** Hands in some work and waits for all of it. */
async function work({ target, find, note }: Abuse, where: string): Promise<number> {
  note(where, RUNS)
  const sent = await Promise.all(
    Array.from({ length: RUNS }, (_, index) =>
      target.ask('POST', `/api/v1/sessions/fuzz%3Acrowd-${index}/messages?wait=20`, { text: `hello ${index}` }),
    ),
  ).catch((error: unknown) => [{ status: 0, body: { error: String(error) } }])
  const bad = sent.find(({ status, body }) => status >= 300 || body['status'] !== 'success')
  if (bad !== undefined) find({ where, message: `work got ${bad.status} ${JSON.stringify(bad.body)}` })
  return RUNS
}

async function everybodyHears({ guests, find, note }: Abuse, where: string, runs: number): Promise<void> {
  let report = await guests.report()
  await until(async () => {
    note(where, runs)
    report = await guests.report()
    return report.fewest >= runs
  }, 15_000 * stretch())
  if (report.fewest < runs) find({ where, message: `somebody has heard of ${report.fewest} of ${runs} ends` })
  if (report.doubled > 0) find({ where, message: `${report.doubled} were told of an end twice` })
}

const REFUSAL = '429 RATE_LIMITED with Retry-After'

/** Some places are those of guests who dawdle, or are not seen to have gone yet. */
const OF_OTHERS = 20

/** More than an org may have of each. */
async function beyond({ guests, find, note }: Abuse): Promise<void> {
  note('beyond the limits', MORE)
  const isBetween = (count: number, most: number): boolean => count <= most && count >= most - OF_OTHERS
  const isFull = ({ streams, sockets }: GuestReport): boolean =>
    isBetween(streams, MOST_STREAMS) && isBetween(sockets, MOST_SOCKETS)
  let asked = CROWD.streams + MORE.streams + CROWD.sockets + MORE.sockets
  let report = await guests.open(MORE)
  // On a busy machine it takes the server a while to see that the guests of the parts before have gone.
  await until(async () => {
    if (isFull(report)) return true
    const streams = Math.max(0, MOST_STREAMS - report.streams)
    const sockets = Math.max(0, MOST_SOCKETS - report.sockets)
    asked += streams + sockets
    report = await guests.open({ streams, sockets, idle: 0 })
    return isFull(report)
  }, 15_000 * stretch())
  const { streams, sockets, refused } = report
  const isRight = isFull(report) && refused[REFUSAL] === asked - streams - sockets && Object.keys(refused).length === 1
  if (!isRight) find({ where: 'beyond the limits', message: `of ${asked} there are ${shownCrowd(report)}` })
}

/** Rounds of requests, and how many each: fewer than the spare places in which people are told that there is no room. */
const ROUNDS = 6
const OF_A_ROUND = 10
const FULL = '503 TOO_MANY_CONNECTIONS with Retry-After'

/** No room for anybody who comes: a precise refusal, and probes are answered. It is over when the crowd has gone. */
async function full({ target, find, note, guests }: Abuse): Promise<void> {
  const { streams, sockets } = await guests.report()
  const limits = (connections: number): Promise<Asked> =>
    target.ask('PATCH', '/api/v1/config', { server: { limits: { connections } } })
  await limits(streams + sockets - 5)
  const agent = async (path: string): Promise<string> => {
    const asked = `GET ${path} HTTP/1.1\r\n${hostLine(target)}${keyLine(target)}\r\n`
    const { text } = await exchange(target, asked, { until: (said) => said.endsWith('}'), withinMs: 5_000 })
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? ''
    return `${statusesIn(text).join(' ')} ${code} ${/^retry-after:/im.test(text) ? 'with Retry-After' : ''}`.trim()
  }
  const answers: string[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    note('full', round)
    answers.push(...(await Promise.all(Array.from({ length: OF_A_ROUND }, () => agent('/api/v1/lanes')))))
    await sleep(400)
  }
  const health = await agent('/health')
  await guests.leave()
  const isOpen = await until(async () => (await limits(10_000).catch(() => null))?.status === 200, 10_000)
  if (!isOpen) find({ where: 'full', kind: 'hang', message: 'there was no room again' })
  // Until those who were idle have gone, some are not even let in.
  const odd = answers.find((answer) => !['', FULL].includes(answer))
  if (odd !== undefined) find({ where: 'full', message: `somebody got ${odd}` })
  if (!answers.includes(FULL)) find({ where: 'full', message: 'nobody was told why' })
  if (health !== '200') find({ where: 'full', message: `a probe got ${health}` })
}
