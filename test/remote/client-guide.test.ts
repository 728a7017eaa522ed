import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { execFile } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../docs/tracked-files.ts'
import { makeCheckout } from '../examples/checkout.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// The programs of docs/guides/client.md, run as a stranger would run them: by the name of the package, against a server.

const PROGRAMS = [...textOf('docs/guides/client.md').matchAll(/```js run\n([^]*?)```\n\n```text\n([^]*?)```/g)].map(
  ([, program = '', output = ''], index) => ({ program, output, name: `program-${index + 1}.mjs` }),
)

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-client-guide-'))
let world: ServeWorld
let environment: Readonly<Record<string, string>>

beforeAll(async () => {
  makeCheckout(directory)
  world = await createServeWorld()
  const url = await world.serve().url
  const key = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
  environment = { ESCAPEMENT_URL: url, ESCAPEMENT_KEY: key }
}, 120_000)

afterAll(async () => {
  await world.end()
  rmSync(directory, { recursive: true, force: true })
})

describe('docs/guides/client.md', () => {
  it('has programs to run', () => {
    expect(PROGRAMS.length).toBeGreaterThan(3)
    expect(textOf('docs/guides/client.md').match(/^```js/gm)).toHaveLength(PROGRAMS.length)
  })

  it.each(PROGRAMS)('$name prints what stands below it', async ({ name, program, output }) => {
    writeFileSync(path.join(directory, name), program)
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [path.join(directory, name)], {
      env: environment,
    })
    expect({ stdout, stderr }).toEqual({ stdout: output, stderr: '' })
  })
})
