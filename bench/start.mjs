// `npm run bench -- start`: how long the first and the second `npm start` take until the server listens, in a fresh clone.
import { spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
/** Seconds until the server listens. */
const GOALS = { first: 30, second: 1.5 }

export async function run() {
  const work = mkdtempSync(path.join(os.tmpdir(), 'escapement-bench-start-'))
  // As root, the embedded PostgreSQL runs as another user, who needs access.
  chmodSync(work, 0o755)
  try {
    const clone = path.join(work, 'clone')
    execFileSync('git', ['clone', '--quiet', root, clone])
    const first = await secondsToListening(clone)
    const second = await secondsToListening(clone)
    const load = os.loadavg()[0]?.toFixed(1)
    return [
      { start: 'first, packages installed and sources transpiled', ...rated(first, GOALS.first), load },
      { start: 'second', ...rated(second, GOALS.second), load },
    ]
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const rated = (seconds, goal) => ({ seconds: Number(seconds.toFixed(2)), goal, ok: seconds <= goal })

async function secondsToListening(clone) {
  const began = performance.now()
  const child = spawn('npm', ['start', '--', '--port', '0'], {
    cwd: clone,
    env: withoutNpm({ ...process.env, ESCAPEMENT_DATA: path.join(path.dirname(clone), 'data') }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  try {
    return await new Promise((resolve, reject) => {
      let said = ''
      child.stdout.on('data', (text) => {
        said += text
        if (said.includes('listens on')) resolve((performance.now() - began) / 1000)
      })
      child.once('error', reject)
      child.once('close', (code) => reject(new Error(`npm start ended with ${code} before it listened`)))
    })
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

/** The environment without the variables of the npm that runs this, which would affect the other npm. */
const withoutNpm = (env) => Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)))
