import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const source = fileURLToPath(new URL('../../../src/domain/', import.meta.url))
let folder = ''

const SCRIPT = `
import { nextFire, countFires } from './time/cron.js'
import { parseCron } from './time/cron-grammar.js'
import { parseZone } from './time/zone.js'
for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC'])
  for (const text of ['30 2 * * *', '*/30 1-2 * * 0', '0 0 L * *'])
    for (const dst of ['vixie', 'skip', 'shift', 'both']) {
      const plan = { expression: parseCron('c', text).value, zone: parseZone('z', zone).value, dst, dayMatch: 'or' }
      let at = Date.UTC(2026, 2, 1)
      for (let i = 0; i < 40; i += 1) console.log(at = nextFire(plan, at))
      console.log(countFires(plan, Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)))
    }
console.error(new Date(0).getTimezoneOffset())
`

/** Node cannot run our sources as they are: they are stripped of types into a folder of their own first. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'host-zone-'))
  mkdirSync(join(folder, 'time'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const name of [...readdirSync(source), ...readdirSync(join(source, 'time')).map((file) => join('time', file))]) {
    if (!name.endsWith('.ts')) continue
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }
    const { outputText } = ts.transpileModule(readFileSync(join(source, name), 'utf8'), { compilerOptions })
    writeFileSync(join(folder, name.replace(/ts$/, 'js')), outputText.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"))
  }
  writeFileSync(join(folder, 'ask.js'), SCRIPT)
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('the zone of the host', () => {
  it('makes no difference', () => {
    const answers = ['UTC', 'America/New_York', 'Pacific/Apia', 'Europe/Berlin'].map((zone) =>
      execFileSync(process.execPath, [join(folder, 'ask.js')], {
        env: { ...process.env, TZ: zone },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    )
    expect(answers[0]?.split('\n').length).toBeGreaterThan(1900)
    expect(new Set(answers).size).toBe(1)
  })
})
