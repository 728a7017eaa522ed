import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take long for their size, each with the seconds it takes about. Files begin in the order of their size
 * otherwise, and a step whose longest file begins last ends with one core idle.
 */
export const LONG_FILES: Readonly<Record<string, number>> = {
  'test/chaos/chaos.test.ts': 59,
  'test/chaos/compile.test.ts': 9,
  'test/domain/queue/ready-queue-cost.test.ts': 12,
  'test/coverage/coverage.test.ts': 50,
  'test/docs/generated.test.ts': 9,
  'test/e2e/console.test.ts': 58,
  'test/e2e/operations.test.ts': 51,
  'test/e2e/schedules.test.ts': 38,
  'test/e2e/work.test.ts': 36,
  'test/examples/guide.test.ts': 15,
  'test/examples/signals.test.ts': 18,
  'test/examples/startup.test.ts': 19,
  'test/http-scenarios/backfill-killed.test.ts': 4,
  'test/http-scenarios/callbacks-killed.test.ts': 10,
  'test/http-scenarios/deliveries.test.ts': 12,
  'test/http-scenarios/http-agents.test.ts': 18,
  'test/http-scenarios/outcomes.test.ts': 16,
  'test/http-scenarios/processes.test.ts': 9,
  'test/http-scenarios/settle-once.test.ts': 9,
  'test/server/properties.test.ts': 29,
  'test/server/tasks-queue.test.ts': 14,
  'test/plane/alerts.test.ts': 8,
  'test/plane/heartbeats.test.ts': 10,
  'test/plane/offline.test.ts': 6,
  'test/plane/secrets-canary.test.ts': 8,
  'test/plane/worker.test.ts': 7,
  'test/remote/commands.test.ts': 10,
  'test/remote/documents.test.ts': 10,
  'test/scenarios/crash.test.ts': 14,
  'test/scenarios/leases.test.ts': 16,
  'test/scenarios/many-orgs.test.ts': 12,
  'test/scenarios/retry.test.ts': 16,
  'test/serve/npm-start.test.ts': 12,
  'test/serve/reload.test.ts': 14,
  'test/serve/signals.test.ts': 15,
  'test/serve/stalls.test.ts': 11,
  'test/serve/start.test.ts': 17,
  'test/tooling/bootstrap.test.ts': 12,
}

const secondsOf = ({ moduleId }: TestSpecification): number => {
  for (const [file, seconds] of Object.entries(LONG_FILES)) if (moduleId.endsWith(`/${file}`)) return seconds
  return 0
}

/** The order in which the files of a step begin: those known to take long first, then the larger ones. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files)
    return bySize.sort((a, b) => secondsOf(b) - secondsOf(a))
  }
}
