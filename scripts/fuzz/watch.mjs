import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** A process that has not started a new input for this long hangs. */
export const HANGS_AFTER_MS = 60_000

/** Time before the first input, to load the program and possibly start a database server. */
const BEGINS_WITHIN_MS = 600_000

/** Time for a process to end after it was asked to. */
const LEAVES_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 500

/** The running processes, which are ended on an interruption. */
const running = new Set()

/** Ends all running processes and waits for them. */
export const endAll = () => Promise.all([...running].map((child) => leave(child)))

/** The number of failed processes after which a part is given up. */
const MOST_PROCESSES = 5

/** Minimum remaining time for which another process is started. */
const SHORTEST_SECONDS = 5

/** Runs a part for its duration; after a failed process, continues with a new process and another seed. */
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
 * Runs one part in a separate process. Returns its result, or a finding if it crashed or hung: the process writes down each
 * input before trying it.
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
      // A separate process group, so that servers and clients it starts end with it.
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

/** Watches the process until it ends. Returns true if it hung and was ended. */
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

/** Asks a process and its children to end, and kills them if they don't. */
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
    // All of them have ended.
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
    // Missing, or being written.
    return null
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
