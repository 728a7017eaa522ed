/** The files whose tests need a database server. */
export const NEEDS_DATABASE = [
  'test/platform/db/**/*.test.ts',
  'test/features/database/**/*.test.ts',
  'test/server/!(metrics|tracing)/**/*.test.ts',
  'test/server/*.test.ts',
  'test/fuzz/api/**/*.test.ts',
  'test/fuzz/connections/**/*.test.ts',
  'test/security/{isolation,doors,requests,guard-rails,guard-rails-allowed,restricted-doors,first-use,references,work-bounds,hostile-bodies,large-rows}.test.ts',
  'test/coverage/**/*.test.ts',
  'test/scenarios/**/*.test.ts',
  'test/http-scenarios/**/*.test.ts',
  'test/serve/**/*.test.ts',
  'test/remote/**/*.test.ts',
  'test/plane/**/*.test.ts',
  'test/e2e/**/*.test.ts',
  'test/agreement/**/*.test.ts',
  'test/faults/**/*.test.ts',
]

/**
 * Files that mock modules. Some need a database server, too, and each has a process of its own: a mock does not reach
 * what another file has loaded before it.
 */
export const MOCKING = [
  'test/agreement/idle-transactions.test.ts',
  'test/agreement/mutants.test.ts',
  'test/faults/engine-mutants.test.ts',
  'test/faults/mutants.test.ts',
  'test/simulation/mutants.test.ts',
  'test/simulation/virtual-day/virtual-day.test.ts',
]
