import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** A process that has not begun anything new for so long hangs. */
export const HANGS_AFTER_MS = 60_000

/** Before its first step a process loads itself and perhaps starts a database server. */
const BEGINS_WITHIN_MS = 600_000

/** How long a process may take to leave when it was asked to. */
const LEAVES_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 500

/** The processes that run now, to be ended when somebody interrupts us. */
const running = new Set()

/** Ends what runs and waits until it is gone. */
export const endAll = () => Promise.all([...running].map((child) => leave(child)))

/** After so many processes that did not come to their end a part is left alone. */
const MOST_PROCESSES = 5

/** Less time than this is not worth a process. */
const SHORTEST_SECONDS = 5

/** Tries one part for as long as it should be tried, with another process and another seed when one has come to grief. */
export async function tryPart(asked) {
  const until = Date.now() + asked.seconds * 1_000
  let all = await runPart(asked)
  for (let again = 1; again < MOST_PROCESSES && all.isCut === true && asked.replay === null; again += 1) {
    const seconds = Math.floor((until - Date.now()) / 1_000)
    if (seconds < SHORTEST_SECONDS) break
    const next = await runPart({ ...asked, seconds, seed: asked.seed + again })
    all = { ...next, tried: all.tried + next.tried, findings: [...all.findings, ...next.findings] }
  }
  return all
}

/**
 * Tries one part in a process of its own. Answers with how it ended, or with a finding: a process that was killed by
 * what it tried, or does not get on, has told before what that was.
 */
export async function runPart({
  root,
  part,
  seconds,
  seed,
  replay,
  hangsAfterMs = HANGS_AFTER_MS,
  program = vitest(root),
}) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-fuzz-'))
  try {
    const order = { part: part.name, seconds, seed, replay, directory }
    const child = spawn(process.execPath, program, {
      cwd: root,
      // A group of its own: servers and guests that it starts end with it.
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        ESCAPEMENT_FUZZ: JSON.stringify(order),
        ...(part.database ? {} : { ESCAPEMENT_FUZZ_DATABASE: 'no' }),
      },
    })
    running.add(child)
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
    const hung = await watch(child, path.join(directory, 'step'), { ended, hangsAfterMs })
    const { code, signal } = await ended
    running.delete(child)
    const end = readJson(path.join(directory, 'end.json'))
    if (hung)
      return failed(part, directory, { kind: 'hang', message: `nothing new was begun for ${hangsAfterMs / 1_000} s` })
    if (end !== null && code === 0) return end
    const message = `the process ended with ${signal ?? `code ${code}`}`
    return failed(part, directory, { kind: 'crash', message, end })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const vitest = (root) => [
  path.join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--config',
  path.join(root, 'test/fuzz/vitest.config.ts'),
]

/** Looks until the process has ended. True: it hung, and was ended. */
async function watch(child, stepFile, { ended, hangsAfterMs }) {
  let isOver = false
  void ended.then(() => (isOver = true))
  let [seen, since] = [null, Date.now()]
  while (!isOver) {
    await Promise.race([ended, pause(LOOK_EVERY_MS)])
    const now = readJson(stepFile)?.steps ?? null
    if (now !== seen) [seen, since] = [now, Date.now()]
    if (!isOver && Date.now() - since > (seen === null ? BEGINS_WITHIN_MS : hangsAfterMs)) {
      await leave(child)
      return true
    }
  }
  return false
}

/** Asks a process and all it has started to leave, and makes them when they do not. */
async function leave(child) {
  const gone = hasEnded(child) ? undefined : new Promise((resolve) => child.once('exit', resolve))
  signalGroup(child, 'SIGTERM')
  const late = setTimeout(() => signalGroup(child, 'SIGKILL'), LEAVES_WITHIN_MS)
  await gone
  clearTimeout(late)
  signalGroup(child, 'SIGKILL')
}

const hasEnded = (child) => child.exitCode !== null || child.signalCode !== null

function signalGroup({ pid }, signal) {
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody of them is there any more.
  }
}

function failed(part, directory, { kind, message, end = null }) {
  const step = readJson(path.join(directory, 'step'))
  const finding = { part: part.name, kind, where: step?.where ?? 'start', message, input: step?.input ?? null }
  return {
    tried: end?.tried ?? step?.steps ?? 0,
    findings: [...(end?.findings ?? []), finding],
    facts: end?.facts ?? {},
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Not there yet, or just being written.
    return null
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
