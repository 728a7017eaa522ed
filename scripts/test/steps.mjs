/**
 * Limits of the two circles: seconds of CPU time (user and system, all cores), which are asserted, and elapsed seconds,
 * which are only printed, because they hold only on an idle machine.
 */
export const BUDGETS = { first: { cpu: 600, clock: 300 }, all: { cpu: 2_400, clock: 900 } }

const STORE = ['test/platform/db/', 'test/features/database/']
const SCENARIOS = ['test/scenarios/']
/** Every operation with the largest possible bodies and rows: two thirds of the folder's time. */
const LARGE_INPUTS = ['test/security/hostile-bodies', 'test/security/large-rows']
/** A walk through the console: sign-in and the main pages. */
const WALK = 'test/e2e/work'
/** Ten thousand bodies for each group of operations, checked against the OpenAPI document and the server. */
const DOCUMENT = 'test/server/document/'
/** The oldest supported PostgreSQL; all other steps use the newest. */
const POSTGRES_15 = { ESCAPEMENT_TEST_POSTGRES: '15' }
/** The commands of README.md, run in a shell. */
const README = 'test/examples/quickstart'

/**
 * The test steps, in the order in which they begin. The first circle (`npm test`) contains what a change can break, the
 * second the slow tests. Files in `except` belong to another step. A step that `computes` uses no real clock; it runs at low
 * priority next to those that wait for one. Of the latter, the longest begin first and steps with many short files last, so
 * that both cores are busy until the end. A step with `env` runs with other settings, and one with `again` repeats files of
 * another step.
 */
export const STEPS = [
  {
    name: 'core',
    circle: 'first',
    folders: [
      'test/domain/',
      'test/engine/commands/',
      'test/engine/transaction/',
      'test/executors/chat/',
      'test/executors/options/',
      'test/features/simulation/',
      'test/fuzz/parsers/',
      'test/ui/',
      'test/platform/yaml/',
    ],
    computes: true,
  },
  { name: 'scenarios', circle: 'first', folders: SCENARIOS },
  {
    name: 'http',
    circle: 'first',
    folders: ['test/server/', 'test/fuzz/api/', 'test/fuzz/connections/'],
    except: [DOCUMENT, 'test/server/metrics/', 'test/server/tracing/'],
  },
  { name: 'walk', circle: 'first', folders: [WALK, README] },
  { name: 'store', circle: 'first', folders: STORE },
  { name: 'security', circle: 'first', folders: ['test/security/'], except: LARGE_INPUTS },
  {
    name: 'commands',
    circle: 'first',
    folders: [
      'test/cli/',
      'test/client/',
      'test/platform/config/',
      'test/engine/clock',
      'test/engine/loops/',
      'test/engine/org-actor',
      'test/engine/threads/',
      'test/engine/work-queue',
      'test/features/as-code/',
      'test/features/config/',
      'test/features/lanes/',
      'test/features/nodes/',
      'test/features/runs/',
      'test/features/schedules/',
      'test/fuzz/command',
      'test/fuzz/waits',
      'test/platform/log/',
      'test/server/metrics/',
      'test/server/tracing/',
    ],
  },
  { name: 'simulation', circle: 'second', folders: ['test/simulation/'], computes: true },
  { name: 'agreement', circle: 'second', folders: ['test/agreement/'], computes: true },
  { name: 'faults', circle: 'second', folders: ['test/faults/'], computes: true },
  { name: 'chaos', circle: 'second', folders: ['test/chaos/'] },
  { name: 'http scenarios', circle: 'second', folders: ['test/http-scenarios/'], env: POSTGRES_15 },
  { name: 'document', circle: 'second', folders: [DOCUMENT] },
  { name: 'browser', circle: 'second', folders: ['test/e2e/'], except: [WALK] },
  { name: 'examples', circle: 'second', folders: ['test/examples/'], except: [README] },
  { name: 'coverage', circle: 'second', folders: ['test/coverage/'] },
  {
    name: 'execution plane',
    circle: 'second',
    folders: ['test/executors/', 'test/platform/outbound/', 'test/integrations/', 'test/plane/'],
    except: ['test/executors/chat/', 'test/executors/options/'],
  },
  { name: 'serve', circle: 'second', folders: ['test/serve/'] },
  { name: 'remote', circle: 'second', folders: ['test/remote/'] },
  { name: 'large inputs', circle: 'second', folders: LARGE_INPUTS },
  { name: 'docs', circle: 'second', folders: ['test/docs/', 'test/tooling/'] },
  {
    name: 'postgres 15',
    circle: 'second',
    folders: STORE,
    env: POSTGRES_15,
    again: true,
  },
]
