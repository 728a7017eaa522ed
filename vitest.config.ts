import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/**/fixtures/**'],
    pool: 'threads',
    // Vitest leaves one core idle by default; on two cores that would be half of the machine.
    maxWorkers: availableParallelism(),
    globals: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    dangerouslyIgnoreUnhandledErrors: false,
    passWithNoTests: false,
  },
})
