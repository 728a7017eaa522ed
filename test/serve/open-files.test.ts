import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { tooFewOpenFiles } from '../../src/cli/open-files.ts'
import { compileProgram, type CompiledProgram } from '../support/compile-program.ts'
import { makeScratch } from '../support/scratch.ts'

const data = makeScratch('escapement-open-files-')
let program: CompiledProgram | null = null
afterAll(() => {
  program?.remove()
  rmSync(data, { recursive: true, force: true })
})

describe('a server with too few open files', () => {
  it.skipIf(process.platform !== 'linux')('says so in one sentence, and ends', { timeout: 120_000 }, () => {
    program = compileProgram('src/cli/main.ts')
    const command = `ulimit -n 128; exec "$0" "$1" serve --port 0 --data "$2"`
    const ended = spawnSync('sh', ['-c', command, process.execPath, program.entry, data], { encoding: 'utf8' })
    expect([ended.status, ended.stderr]).toEqual([1, `${tooFewOpenFiles(128) ?? ''}\n`])
    expect(ended.stderr.split('\n')).toHaveLength(2)
  })

  it('starts with what macOS gives, and where nobody knows the limit', () => {
    expect(tooFewOpenFiles(256)).toBeNull()
    expect(tooFewOpenFiles(null)).toBeNull()
  })
})
