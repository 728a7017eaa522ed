import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

const NEEDS_DATABASE = [
  'test/store/**/*.test.ts',
  'test/service/database/**/*.test.ts',
  'test/http/**/*.test.ts',
  'test/fuzz/api/**/*.test.ts',
  'test/fuzz/connections/**/*.test.ts',
  'test/security/{isolation,doors,requests,guard-rails,guard-rails-allowed,rails-doors}.test.ts',
  'test/scenarios/**/*.test.ts',
  'test/http-scenarios/**/*.test.ts',
  'test/faults/**/*.test.ts',
  'test/agreement/**/*.test.ts',
  'test/serve/**/*.test.ts',
  'test/remote/**/*.test.ts',
  'test/plane/**/*.test.ts',
  'test/e2e/**/*.test.ts',
]

export default defineConfig({
  test: {
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
    testTimeout: 30_000,
    hookTimeout: 30_000,
    exclude: ['**/node_modules/**', 'test/**/fixtures/**'],
    // Two projects, so that a database server is started when a test needs one and not otherwise.
    projects: [
      {
        extends: true,
        test: {
          name: 'plain',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/**/fixtures/**', ...NEEDS_DATABASE],
        },
      },
      {
        extends: true,
        test: { name: 'database', include: NEEDS_DATABASE, globalSetup: ['test/support/database-server.ts'] },
      },
    ],
  },
})
