import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../simulation/random.ts'
import type { Finding, Part, PartEnd, PartRun } from '../part.ts'
import type { Abuse, Found, Scenario } from './abuse.ts'
import { crowd } from './crowds.ts'
import { startGuests } from './guests.ts'
import { deafSenders, leavers } from './leaving.ts'
import { changedFrames, changedRequests, knownBad, tryBytes, type SentBytes } from './malformed.ts'
import { slowReaders } from './slow-readers.ts'
import { beDawdling, type Dawdlers } from './slow.ts'
import { startTarget, stretch, until, type Target, type Uses } from './target.ts'

const NAME = 'connections'

/** Everything that is done to the server, and the share of the time that those get who could go on for ever. */
const SCENARIOS: readonly (readonly [name: string, scenario: Scenario, share: number])[] = [
  ['requests and frames that are known to be bad', knownBad, 0],
  ['changed requests', changedRequests, 0.1],
  ['changed frames', changedFrames, 0.1],
  ['clients that leave in every state', leavers, 0.08],
  ['clients that send and do not read', deafSenders, 0],
  ['slow readers of events', slowReaders, 0],
  ['a crowd', crowd, 0],
]

/** What a server must be back to, a while after everybody has gone. */
const MOST_MORE_DESCRIPTORS = 12
const MOST_MORE_MB = 250
const LONGEST_PROBE_MS = 1_000

const findingOf = ({ where, message, kind = 'wrong', input = null }: Found): Finding => ({
  ...{ part: NAME, kind, where, message, input },
})

/** Abuses a server in a process of its own in every way known, and looks at it after each. */
async function run({ seconds, seed, say, note, corpus }: PartRun): Promise<PartEnd> {
  const findings: Finding[] = []
  const target = await startTarget()
  const guests = startGuests(target)
  let dawdlers: Dawdlers | null = null
  try {
    const find = (found: Found): void => void findings.push(findingOf(found))
    const abuse: Abuse = { target, guests, random: createRandom(seed), note, find, say }
    await lookAfter(abuse, 'the start')
    const base = target.uses()
    dawdlers = await beDawdling(target)
    let tried = dawdlers.count + (await tryAll(abuse, corpus as readonly SentBytes[]))
    for (const [name, scenario, share] of SCENARIOS) {
      if (target.ending() !== null) break
      say(`  ${name}`)
      tried += await scenario(abuse, seconds * share)
      await lookAfter(abuse, name)
    }
    if (seconds >= 60) await waitFor(abuse, dawdlers)
    dawdlers.end()
    const uses = await settle(abuse, base)
    await lookAfter(abuse, 'the end')
    return { tried, findings, facts: factsOf(base, uses) }
  } finally {
    dawdlers?.end()
    await guests.end()
    await target.end()
  }
}

async function tryAll(abuse: Abuse, inputs: readonly SentBytes[]): Promise<number> {
  for (const input of inputs) {
    abuse.note('corpus', input)
    await tryBytes(abuse, input)
  }
  return inputs.length
}

/** It lives, answers in time, does its work, and has nothing to complain about. */
async function lookAfter({ target, guests, find, note }: Abuse, where: string): Promise<void> {
  note('looking after', where)
  const how = target.ending()
  if (how !== null) find({ where, kind: 'crash', message: `the server has ended with ${how}` })
  const wrong = how === null ? await target.roundTrip() : null
  if (wrong !== null) find({ where, message: wrong })
  const { slowestProbe, failedProbes } = await guests.report()
  const most = LONGEST_PROBE_MS * stretch()
  if (failedProbes > 0) find({ where, kind: 'hang', message: `${failedProbes} probes of /health failed` })
  if (slowestProbe > most) find({ where, kind: 'hang', message: `/health took ${slowestProbe} ms` })
  for (const line of new Set(target.complaints())) if (!told.has(line)) complain(find, where, line)
}

/** Lines that were found already. */
const told = new Set<string>()

function complain(find: Abuse['find'], where: string, line: string): void {
  told.add(line)
  find({
    where,
    kind: line.includes('"level":"error"') ? '5xx' : 'wrong',
    message: `its log has ${line.slice(0, 500)}`,
  })
}

async function waitFor(abuse: Abuse, dawdlers: Dawdlers): Promise<void> {
  abuse.say('  clients that dawdle or have vanished')
  while (performance.now() < dawdlers.overAt && !dawdlers.isOver()) {
    abuse.note('waiting for dawdlers', Math.round(dawdlers.overAt - performance.now()))
    await sleep(1_000)
  }
  dawdlers.judge(abuse)
}

/** Waits until it is back to what it was, as far as it comes. */
async function settle({ target, find, note }: Abuse, base: Uses): Promise<Uses> {
  const tooMany = (): number => target.uses().descriptors - base.descriptors - MOST_MORE_DESCRIPTORS
  await until(() => {
    note('settling', target.uses())
    return tooMany() <= 0
  }, 10_000)
  const uses = target.uses()
  const where = 'after all of it'
  if (tooMany() > 0) find({ where, message: `${uses.descriptors} descriptors are open, of ${base.descriptors}` })
  if (uses.megabytes - base.megabytes > MOST_MORE_MB)
    find({ where, message: `the server has ${uses.megabytes} MB, of ${base.megabytes}` })
  return uses
}

const factsOf = (base: Uses, uses: Uses): PartEnd['facts'] => ({
  ...{ 'MB before': base.megabytes, 'MB after': uses.megabytes },
  ...{ 'descriptors before': base.descriptors, 'descriptors after': uses.descriptors },
})

async function replay(inputs: readonly unknown[]): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const target: Target = await startTarget()
  try {
    const find = (found: Found): void => void findings.push(findingOf(found))
    for (const input of inputs) await tryBytes({ target, find }, input as SentBytes)
    const wrong = await target.roundTrip()
    if (wrong !== null) find({ where: 'replay', message: wrong })
    return findings
  } finally {
    await target.end()
  }
}

export const connections: Part = {
  ...{ name: NAME, title: 'streams, sockets and bytes on the wire, against a server of its own', run, replay },
}
