import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../docs/tracked-files.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'
import { ROOT } from '../tooling/root.ts'

// The programs of docs/guides/python.md against a server, and the client's own tests. CI installs Python if it is missing.

const PYTHON = 'python3'
const isMissing = spawnSync(PYTHON, ['-c', 'import sys; assert sys.version_info >= (3, 11)']).status !== 0
const CLIENT = path.join(ROOT, 'clients/python')

const PROGRAMS = [...textOf('docs/guides/python.md').matchAll(/```python run\n([^]*?)```\n\n```text\n([^]*?)```/g)].map(
  ([, program = '', output = ''], index) => ({ program, output, name: `program-${index + 1}.py` }),
)

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-python-guide-'))
const execute = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)(PYTHON, args, {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1', ...env },
  })

afterAll(() => rmSync(directory, { recursive: true, force: true }))

it('needs Python 3.11 in CI', () => {
  expect(isMissing && process.env['CI'] === 'true').toBe(false)
})

describe.skipIf(isMissing)('the Python client', () => {
  it('passes its own tests', async () => {
    const { stderr } = await execute(['-m', 'unittest', 'discover', '-s', path.join(CLIENT, 'tests')])
    expect(stderr).toMatch(/Ran \d\d? tests[^]*\nOK\n$/)
  })

  it('has types and methods whose annotations Python can read', async () => {
    const program = `
import inspect, typing
from escapement import client, types
shapes = [v for v in vars(types).values() if isinstance(v, type) and v.__module__ == types.__name__]
groups = [v for v in vars(client).values() if isinstance(v, type) and v.__module__ == client.__name__]
for shape in shapes: typing.get_type_hints(shape, include_extras=True)
for group in groups:
    for method in vars(group).values():
        if inspect.isfunction(method): typing.get_type_hints(method)
print(len(shapes) > 150, len(groups) > 25)`
    const { stdout } = await execute(['-c', program])
    expect(stdout).toBe('True True\n')
  })
})

describe.skipIf(isMissing)('docs/guides/python.md', () => {
  let world: ServeWorld
  let environment: Readonly<Record<string, string>>

  beforeAll(async () => {
    world = await createServeWorld()
    const url = await world.serve().url
    const key = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
    environment = { ESCAPEMENT_URL: url, ESCAPEMENT_KEY: key }
  }, 120_000)

  afterAll(async () => {
    await world.end()
  })

  it('has programs to run', () => {
    expect(PROGRAMS.length).toBeGreaterThan(3)
    expect(textOf('docs/guides/python.md').match(/^```python/gm)).toHaveLength(PROGRAMS.length)
  })

  it.each(PROGRAMS)('$name prints what stands below it', async ({ name, program, output }) => {
    writeFileSync(path.join(directory, name), program)
    const { stdout, stderr } = await execute([name], environment)
    expect({ stdout, stderr }).toEqual({ stdout: output, stderr: '' })
  })
})
