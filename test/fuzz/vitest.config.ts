import { defineConfig } from 'vitest/config'
import type { Reporter } from 'vitest/node'

/** A part says itself how it goes; only what broke it is told here. */
const QUIET: Reporter = {
  onTestRunEnd: (modules, errors) => {
    const failures = modules.flatMap((one) => [
      ...one.errors(),
      ...[...one.children.allTests()].flatMap((test) => test.result().errors ?? []),
    ])
    for (const error of [...failures, ...errors]) process.stderr.write(`${error.stack ?? error.message}\n`)
  },
}

/**
 * One process that tries one part, with a database server beside it if the part wants one. Not a thread: its stack would be
 * four times that of a server, and would hide what overflows.
 */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/fuzz/main.fuzz.ts'],
    reporters: [QUIET],
    pool: 'forks',
    maxWorkers: 1,
    isolate: false,
    globals: false,
    hookTimeout: 60_000,
    ...(process.env['ESCAPEMENT_FUZZ_DATABASE'] === 'no' ? {} : { globalSetup: ['test/support/database-server.ts'] }),
  },
})
