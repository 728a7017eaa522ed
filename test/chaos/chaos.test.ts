import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'

// Three real nodes and a real server, for one round of faults, in exactly the way of `npm run chaos`. The rate is not
// demanded here: this also has to pass on a machine that does other things at the same time.

const LONGEST_MS = 300_000

it(
  'survives a round of every kind of fault',
  async () => {
    const options = { minutes: 0.6, rate: 200, orgs: 60, 'least-faults': 15, 'least-rate': 30 }
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
    const script = path.join(ROOT, 'scripts/chaos.mjs')
    const child = spawn(process.execPath, [script, 'faults', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const patience = setTimeout(() => child.kill('SIGTERM'), LONGEST_MS)
    const [printed, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    clearTimeout(patience)
    process.stdout.write(printed)
    expect(complained).toBe('')
    expect(printed.trimEnd().split('\n').at(-1)).toBe(
      '0 lost, 0 doubled, 0 out of session order, 0 limits exceeded, 0 stuck, 0 early, 0 unfair, 0 unrecorded, 0 wrongly lost, 0 crashes',
    )
    expect(child.exitCode).toBe(0)
  },
  LONGEST_MS + 30_000,
)
