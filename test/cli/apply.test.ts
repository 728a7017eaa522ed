import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run, type Ran } from './run.ts'

// What can be told without a server: the command line and the files.

let cwd: string

beforeAll(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), 'escapement-apply-'))
  mkdirSync(path.join(cwd, 'empty'))
  mkdirSync(path.join(cwd, 'both'))
  writeFileSync(path.join(cwd, 'good.yaml'), 'version: 1\n')
  writeFileSync(path.join(cwd, 'bad.yaml'), 'version: 1\nschedules:\n\t- name: A\n')
  writeFileSync(path.join(cwd, 'both/a.yml'), 'agents: []\nagents: []\n')
  writeFileSync(path.join(cwd, 'both/b.json'), '[]')
  writeFileSync(path.join(cwd, 'both/c.txt'), '\t')
})

afterAll(() => {
  rmSync(cwd, { recursive: true, force: true })
})

const nowhere = { ESCAPEMENT_URL: 'http://127.0.0.1:9', ESCAPEMENT_KEY: 'esc_nobody' }
const apply = (args: readonly string[], input = ''): Promise<Ran> =>
  run(['apply', ...args], input, { cwd, variables: nowhere })

describe('escapement apply', () => {
  it.each([
    ['no file', [], 'Missing -f FILE'],
    ['a file that is not there', ['-f', 'nowhere.yaml'], 'Cannot read nowhere.yaml: ENOENT'],
    ['a directory without files', ['-f', 'empty'], 'Directory empty contains no .yaml, .yml or .json files'],
    ['a file that is no YAML', ['-f', 'good.yaml', '-f', 'bad.yaml'], 'bad.yaml:3:1 tabs are not allowed'],
    ['two of them', ['-f', 'both'], 'both/a.yml:2:1 duplicate name "agents"\nboth/b.json:1:1 must contain lists'],
    ['kinds that are none', ['-f', 'good.yaml', '--kinds', 'agents,runs'], 'Invalid --kinds "runs"'],
    ['an exit code without a plan', ['-f', 'good.yaml', '--exit-code'], '--exit-code requires --plan'],
  ])('ends with 2 for %s', async (_, args, said) => {
    const { code, stdout, stderr } = await apply(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
  })

  it('reads stdin, and ends with 3 when nobody answers', async () => {
    const broken = await apply(['-f', '-'], 'a: [')
    expect([broken.code, broken.stderr.slice(0, 10)]).toEqual([2, 'stdin:1:5 '])
    expect(await apply(['-f', '-'], 'version: 1')).toMatchObject({ code: 3, stdout: '' })
    expect(await run(['export'], '', { cwd, variables: nowhere })).toMatchObject({ code: 3, stdout: '' })
  })
})
