import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startChild, type Child } from './child.ts'

interface Line {
  readonly said: string
}
const isSaid =
  (word: string) =>
  (line: Line): line is Line =>
    line.said === word

/** Says what it is told, and complains. */
const PARROT = `
  process.stderr.write('I complain\\n')
  console.log('{"said":"ready"}')
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => console.log(line))
`

let directory: string
let child: Child<Line>
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-child-'))
  writeFileSync(path.join(directory, 'parrot.cjs'), PARROT)
  child = startChild([path.join(directory, 'parrot.cjs')], path.join(directory, 'log'))
})
afterEach(async () => {
  child.signal('SIGKILL')
  await child.ended
  rmSync(directory, { recursive: true, force: true })
})

describe('a child process', () => {
  it('is heard, whether somebody waits already or asks later', async () => {
    child.tell({ said: 'early' })
    child.tell({ said: 'late' })
    await child.hear(isSaid('late'), 10_000)
    expect(await child.hear(isSaid('early'), 10)).toEqual({ said: 'early' })
    await expect(child.hear(isSaid('early'), 10)).rejects.toThrow('nothing heard within 10 ms')
    expect(readFileSync(path.join(directory, 'log'), 'utf8')).toBe('I complain\n')
  })

  it('is silent while it is stopped and goes on afterwards', async () => {
    await child.hear(isSaid('ready'), 10_000)
    child.signal('SIGSTOP')
    child.tell({ said: 'hello' })
    await expect(child.hear(isSaid('hello'), 200)).rejects.toThrow('nothing heard')
    child.signal('SIGCONT')
    expect(await child.hear(isSaid('hello'), 10_000)).toEqual({ said: 'hello' })
    expect(child.ending()).toBeNull()
  })

  it('ends when it is killed, stopped or not, and whoever waits hears of it', async () => {
    await child.hear(isSaid('ready'), 10_000)
    child.signal('SIGSTOP')
    await sleep(20)
    const waiting = expect(child.hear(isSaid('hello'), 10_000)).rejects.toThrow('SIGKILL')
    child.signal('SIGKILL')
    expect(await child.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
    await waiting
    await expect(child.hear(isSaid('hello'), 10_000)).rejects.toThrow('the process has ended with SIGKILL')
    child.tell({ said: 'nobody reads this' })
  })
})
