import { availableParallelism } from 'node:os'
import path from 'node:path'
import { defineConfig } from 'vitest/config'
import { compiledForTestsOnly } from './test/support/compiled-for-tests-only.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { ProgressReporter } from './test/support/progress-reporter.ts'
import { MOCKING, NEEDS_DATABASE } from './test/support/projects.ts'

/** Where the steps of one run keep what they have compiled for each other; a run by hand compiles for itself. */
const COMPILED = process.env['ESCAPEMENT_TEST_COMPILED'] ?? ''

/** Where a step of `npm test` wants to be told how it goes; a run by hand only prints. */
const TOLD = process.env['ESCAPEMENT_TEST_TOLD'] ?? ''

const EXCLUDED = ['**/node_modules/**', 'test/**/fixtures/**']

export default defineConfig({
  plugins: [compiledForTestsOnly],
  test: {
    experimental: COMPILED === '' ? {} : { fsModuleCache: true, fsModuleCachePath: COMPILED },
    reporters:
      TOLD === ''
        ? ['default']
        : [
            'default',
            new ProgressReporter(path.join(TOLD, 'progress.jsonl')),
            ['json', { outputFile: path.join(TOLD, 'report.json') }],
          ],
    // Vitest leaves one core idle by default; on two cores that would be half of the machine.
    maxWorkers: availableParallelism(),
    dangerouslyIgnoreUnhandledErrors: false,
    passWithNoTests: false,
    pool: 'threads',
    // Files share a process and must leave nothing behind in it: loading everything anew for each took a fifth of the time.
    isolate: false,
    globals: false,
    // The order of files is the same everywhere, and steps that run side by side do not write one file.
    cache: false,
    sequence: { sequencer: LongestFirst },
    // For what hangs: on a machine with other work everything takes several times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    exclude: EXCLUDED,
    // Projects, so that a database server is started when a test needs one and not otherwise.
    projects: [
      {
        extends: true,
        test: {
          name: 'plain',
          include: ['test/**/*.test.ts'],
          exclude: [...EXCLUDED, ...NEEDS_DATABASE, ...MOCKING],
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: NEEDS_DATABASE,
          exclude: [...EXCLUDED, ...MOCKING],
          globalSetup: ['test/support/database-server.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'mocking',
          include: MOCKING,
          pool: 'forks',
          isolate: true,
          globalSetup: ['test/support/database-server.ts'],
        },
      },
    ],
  },
})
