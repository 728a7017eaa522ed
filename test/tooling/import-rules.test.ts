import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from './root.ts'

// A small house with deliberate violations, cruised with the project's own configuration: each file breaks one rule.

const VIOLATIONS: readonly (readonly [rule: string, file: string, imported: string])[] = [
  ['core-imports-only-its-neighbours', 'src/core/store-reader.ts', '../store/rows.ts'],
  ['core-imports-only-its-neighbours', 'src/core/config-reader.ts', '../config.ts'],
  ['core-uses-only-its-packages', 'src/core/shopper.ts', 'left-pad'],
  ['core-does-no-io', 'src/core/reader.ts', 'node:fs'],
  ['core-uses-only-its-packages', 'src/core/time/second-rrule.ts', 'rrule-temporal'],
  ['contract-imports-only-its-neighbours', 'src/contract/server.ts', '../service/submit.ts'],
  ['store-imports-only-its-neighbours', 'src/store/servant.ts', '../service/submit.ts'],
  ['store-uses-only-its-packages', 'src/store/web.ts', 'zod'],
  ['executors-imports-only-its-neighbours', 'src/executors/storing.ts', '../store/rows.ts'],
  ['channels-imports-only-its-neighbours', 'src/channels/storing.ts', '../store/rows.ts'],
  ['delivery-imports-only-its-neighbours', 'src/delivery/storing.ts', '../store/rows.ts'],
  ['service-imports-only-its-neighbours', 'src/service/routing.ts', '../http/route.ts'],
  ['service-uses-only-its-packages', 'src/service/driver.ts', 'pg'],
  ['engine-imports-only-its-neighbours', 'src/engine/storing.ts', '../store/rows.ts'],
  ['http-imports-only-its-neighbours', 'src/http/storing.ts', '../store/rows.ts'],
  ['client-imports-only-its-neighbours', 'src/client/deciding.ts', '../core/decide.ts'],
  ['cli-imports-only-its-neighbours', 'src/cli/storing.ts', '../store/rows.ts'],
  ['cli-uses-only-its-packages', 'src/cli/shopper.ts', 'left-pad'],
  ['config-knows-only-words', 'src/platform/config/config.ts', './service/submit.ts'],
  ['only-app-chooses-a-driver', 'src/store/chooser.ts', './postgres.ts'],
  ['ui-sees-only-the-contract', 'ui/page.ts', '../src/core/decide.ts'],
  ['ui-uses-only-its-packages', 'ui/shopper.ts', 'left-pad'],
  ['pages-stand-alone', 'ui/pages/one/peeking.ts', '../two/page.ts'],
  ['ui-shares-no-page', 'ui/parts/borrowing.ts', '../pages/two/page.ts'],
  ['src-stands-alone', 'src/core/tested.ts', '../../test/support.ts'],
  ['src-uses-no-dev-package', 'src/http/developer.ts', 'fast-check'],
  ['no-unresolvable', 'src/core/lost.ts', './nowhere.ts'],
  ['no-cycles', 'src/core/egg.ts', './hen.ts'],
]

/** Files that break nothing: what the violations point at, and one allowed import of each interesting kind. */
const CLEAN: Readonly<Record<string, readonly string[]>> = {
  'src/core/decide.ts': ['./words.ts'],
  'src/core/words.ts': [],
  'src/contract/shape.ts': ['../core/decide.ts', 'zod'],
  'src/store/rows.ts': ['../core/decide.ts', 'pg'],
  'src/platform/db/postgres/postgres.ts': ['./rows.ts', 'pg', 'node:fs'],
  'src/service/submit.ts': ['../core/decide.ts', '../store/rows.ts'],
  'src/executors/echo.ts': ['../core/decide.ts'],
  'src/engine/loops/loop.ts': ['../service/submit.ts', '../executors/echo.ts'],
  'src/http/route.ts': ['../service/submit.ts', '../contract/shape.ts', 'zod'],
  'src/client/client.ts': ['../contract/shape.ts'],
  'src/cli/main.ts': ['commander', '../client/client.ts', '../core/decide.ts', '../app.ts', 'node:fs'],
  'src/app.ts': ['./engine/loop.ts', './store/postgres.ts', './http/route.ts'],
  'test/support.ts': ['../src/app.ts'],
  'ui/app.ts': ['../src/contract/shape.ts', '../src/client/client.ts'],
  'ui/pages/two/page.ts': ['../../app.ts'],
  'ui/app/routes.ts': ['../pages/two/page.ts'],
}

const PACKAGES = ['rrule-temporal', 'commander', 'zod', 'pg', 'left-pad']

interface Violation {
  readonly from: string
  readonly rule: { readonly name: string }
}

describe('the import table', () => {
  const house = mkdtempSync(path.join(os.tmpdir(), 'escapement-imports-'))
  let violations: readonly Violation[] = []

  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(house, file)), { recursive: true })
    writeFileSync(path.join(house, file), text)
  }
  // A type-only import counts like any other, so half of the house uses one.
  const importing = (imported: readonly string[]): string =>
    [...imported.map((name, n) => `import ${n % 2 === 0 ? '' : 'type '}{ it as it${n} } from '${name}'`), ''].join(
      '\n',
    ) + `export const it = [${imported.flatMap((_, n) => (n % 2 === 0 ? [`it${n}`] : [])).join(', ')}]\n`

  beforeAll(() => {
    for (const [, file, imported] of VIOLATIONS) write(file, importing([imported]))
    for (const [file, imported] of Object.entries(CLEAN)) write(file, importing(imported))
    write('src/core/hen.ts', importing(['./egg.ts']))
    write('src/core/forgotten.ts', 'export const it = 1\n')
    for (const name of [...PACKAGES, 'fast-check']) {
      write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }))
      write(`node_modules/${name}/index.js`, 'exports.it = 1\n')
    }
    const dependencies = Object.fromEntries(PACKAGES.map((name) => [name, '1.0.0']))
    write('package.json', JSON.stringify({ type: 'module', dependencies, devDependencies: { 'fast-check': '1.0.0' } }))
    write('tsconfig.json', JSON.stringify({ compilerOptions: { module: 'nodenext', target: 'es2023' } }))
    const answer = execFileSync(
      process.execPath,
      [
        path.join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'),
        ...['--config', path.join(ROOT, '.dependency-cruiser.cjs'), '--output-type', 'json', 'src', 'test', 'ui'],
      ],
      { cwd: house, encoding: 'utf8', maxBuffer: 1e8 },
    )
    violations = (JSON.parse(answer) as { readonly summary: { readonly violations: readonly Violation[] } }).summary
      .violations
  })

  afterAll(() => rmSync(house, { recursive: true, force: true }))

  const brokenBy = (file: string): readonly string[] =>
    violations.filter((violation) => violation.from === file).map((violation) => violation.rule.name)

  it.each(VIOLATIONS)('%s: %s must not import %s', (rule, file) => {
    expect(brokenBy(file)).toContain(rule)
  })

  it('finds a module that nobody imports', () => {
    expect(brokenBy('src/core/forgotten.ts')).toEqual(['no-orphans'])
  })

  it.each(Object.keys(CLEAN))('has nothing to say about %s', (file) => {
    expect(brokenBy(file)).toEqual([])
  })
})
