import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from './root.ts'

// A small house with deliberate violations, cruised with the project's own configuration: each file breaks one rule.

const VIOLATIONS: readonly (readonly [rule: string, file: string, imported: string])[] = [
  ['domain-imports-only-its-neighbours', 'src/domain/store-reader.ts', '../features/runs/store.ts'],
  ['domain-imports-only-its-neighbours', 'src/domain/config-reader.ts', '../platform/config/config.ts'],
  ['domain-uses-only-its-packages', 'src/domain/shopper.ts', 'left-pad'],
  ['pure-rooms-do-no-io', 'src/domain/reader.ts', 'node:fs'],
  ['pure-rooms-do-no-io', 'src/executors/echo/options.ts', 'node:fs'],
  ['domain-uses-only-its-packages', 'src/domain/time/second-rrule.ts', 'rrule-temporal'],
  ['domain-knows-only-tables-of-executors', 'src/domain/choosing.ts', '../executors/echo/kind.ts'],
  ['schemas-imports-only-its-neighbours', 'src/features/lanes/schema.ts', '../runs/service.ts'],
  ['stores-imports-only-its-neighbours', 'src/features/lanes/store.ts', '../runs/service.ts'],
  ['stores-uses-only-its-packages', 'src/features/tasks/count-store.ts', 'zod'],
  ['executors-imports-only-its-neighbours', 'src/executors/storing.ts', '../features/runs/store.ts'],
  ['integrations-imports-only-its-neighbours', 'src/integrations/storing.ts', '../features/runs/store.ts'],
  ['services-imports-only-its-neighbours', 'src/features/lanes/service.ts', '../../server/http/route.ts'],
  ['services-uses-only-its-packages', 'src/features/lanes/driver.ts', 'pg'],
  ['engine-imports-only-its-neighbours', 'src/engine/loops/serving.ts', '../../server/http/route.ts'],
  ['server-imports-only-its-neighbours', 'src/server/storing.ts', '../features/runs/store.ts'],
  ['routes-have-one-registry', 'src/engine/routing.ts', '../features/runs/routes.ts'],
  ['commands-have-one-registry', 'src/cli/borrowing.ts', '../features/runs/cli.ts'],
  ['client-imports-only-its-neighbours', 'src/client/deciding.ts', '../domain/decide.ts'],
  ['cli-imports-only-its-neighbours', 'src/cli/storing.ts', '../features/runs/store.ts'],
  ['commands-uses-only-its-packages', 'src/features/lanes/cli.ts', 'left-pad'],
  ['platform-config-imports-only-its-neighbours', 'src/platform/config/config.ts', '../../features/runs/service.ts'],
  ['only-app-chooses-a-driver', 'src/platform/db/chooser.ts', './postgres/postgres.ts'],
  ['only-servers-carry-out-operations', 'src/client/performing.ts', '../operations/table.ts'],
  ['ui-sees-only-the-contract', 'ui/page.ts', '../src/domain/decide.ts'],
  ['ui-uses-only-its-packages', 'ui/shopper.ts', 'left-pad'],
  ['pages-stand-alone', 'ui/pages/one/peeking.ts', '../two/page.ts'],
  ['ui-shares-no-page', 'ui/parts/borrowing.ts', '../pages/two/page.ts'],
  ['src-stands-alone', 'src/domain/tested.ts', '../../test/support.ts'],
  ['src-uses-no-dev-package', 'src/server/developer.ts', 'fast-check'],
  ['no-unresolvable', 'src/domain/lost.ts', './nowhere.ts'],
  ['no-cycles', 'src/domain/egg.ts', './hen.ts'],
]

/** Files that break nothing: what the violations point at, and one allowed import of each interesting kind. */
const CLEAN: Readonly<Record<string, readonly string[]>> = {
  'src/domain/decide.ts': ['./words.ts', '../executors/kinds.ts'],
  'src/domain/words.ts': [],
  'src/executors/kinds.ts': ['./echo/kind.ts'],
  'src/executors/echo/kind.ts': [],
  'src/api/fields.ts': ['../domain/decide.ts', 'zod'],
  'src/platform/db/database.ts': ['../../domain/decide.ts', 'pg'],
  'src/platform/db/postgres/postgres.ts': ['../database.ts', 'pg', 'node:fs'],
  'src/features/runs/schema.ts': ['../../api/fields.ts', 'zod'],
  'src/features/runs/store.ts': ['../../domain/decide.ts', '../../platform/db/database.ts'],
  'src/features/runs/service.ts': ['../../domain/decide.ts', './store.ts', './schema.ts'],
  'src/features/runs/routes.ts': ['./service.ts', './schema.ts', '../../operations/handler.ts'],
  'src/features/runs/cli.ts': ['commander', './schema.ts', '../../client/client.ts'],
  'src/operations/handler.ts': ['../api/fields.ts'],
  'src/operations/table.ts': ['../features/runs/routes.ts'],
  'src/executors/echo/execute.ts': ['../../domain/decide.ts'],
  'src/engine/loops/loop.ts': ['../../features/runs/service.ts', '../../executors/echo/execute.ts'],
  'src/server/http/route.ts': ['../../features/runs/service.ts', '../../operations/table.ts', 'zod'],
  'src/client/client.ts': ['../api/fields.ts'],
  'src/cli/main.ts': ['commander', './commands.ts', '../domain/decide.ts', 'node:fs'],
  'src/cli/commands.ts': ['../features/runs/cli.ts'],
  'src/app.ts': ['./engine/loops/loop.ts', './platform/db/postgres/postgres.ts'],
  'test/support.ts': ['../src/app.ts'],
  'ui/app.ts': ['../src/api/fields.ts', '../src/client/client.ts'],
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
    write('src/domain/hen.ts', importing(['./egg.ts']))
    write('src/domain/forgotten.ts', 'export const it = 1\n')
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
    expect(brokenBy('src/domain/forgotten.ts')).toEqual(['no-orphans'])
  })

  it.each(Object.keys(CLEAN))('has nothing to say about %s', (file) => {
    expect(brokenBy(file)).toEqual([])
  })
})
