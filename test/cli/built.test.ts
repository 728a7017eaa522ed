import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'

// The program as it is shipped. `npm test` builds it first; a bare vitest run in a fresh checkout has nothing to start.

const MAIN = path.join(ROOT, 'dist/cli/main.js')
const row = { expr: '0 9 * * 1-5', tz: 'Europe/Berlin', from: '2026-11-13T12:00:00Z' }

describe.runIf(existsSync(MAIN))('the built program', () => {
  it('answers JSON lines, whatever the time zone of the host', () => {
    const options = {
      input: `${JSON.stringify(row)}\n`,
      encoding: 'utf8',
      env: { ...process.env, TZ: 'Asia/Kolkata' },
    } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'cron', 'next'], options)
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: '{"next":"2026-11-16T08:00:00.000Z"}\n',
      stderr: '',
    })
  })

  it('has the modules that its threads begin with', async () => {
    const { threadModule } = (await import(pathToFileURL(path.join(ROOT, 'dist/platform/package-root.js')).href)) as {
      readonly threadModule: (place: string) => URL | null
    }
    const threads = ['engine/threads/computation-thread', 'engine/threads/simulation-thread', 'serve/watchdog-thread']
    expect(threads.filter((thread) => threadModule(thread) === null)).toEqual([])
  })

  it('ends quietly when its reader has seen enough', async () => {
    const child = spawn(process.execPath, [MAIN, 'cron', 'next'], { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin.on('error', () => undefined)
    const complaints: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
    const ended = once(child, 'close')
    child.stdin.write(`${JSON.stringify(row)}\n`)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    for (let n = 0; n < 2_000; n += 1) child.stdin.write(`${JSON.stringify(row)}\n`)
    child.stdin.end()
    expect(await ended).toEqual([0, null])
    expect(Buffer.concat(complaints).toString('utf8')).toBe('')
  })

  it('does not open the debugger on SIGUSR1', async () => {
    const child = spawn(process.execPath, [MAIN, 'cron', 'next'], { stdio: ['pipe', 'pipe', 'pipe'] })
    const complaints: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
    const ended = once(child, 'close')
    child.stdin.write(`${JSON.stringify(row)}\n`)
    await once(child.stdout, 'data')
    child.kill('SIGUSR1')
    child.stdin.end(`${JSON.stringify(row)}\n`)
    expect(await ended).toEqual([0, null])
    expect(Buffer.concat(complaints).toString('utf8')).toBe('')
  })
})
