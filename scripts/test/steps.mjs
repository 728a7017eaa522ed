/**
 * What the two circles may take: seconds of CPU time (user and system, on all cores together), which is asserted, and
 * seconds on a clock, which only an idle machine keeps and which are printed.
 */
export const BUDGETS = { first: { cpu: 600, clock: 300 }, all: { cpu: 2_400, clock: 900 } }

const STORE = ['test/store/', 'test/service/database/']
const SCENARIOS = ['test/scenarios/']
/** Every operation with the largest bodies and rows there can be: two thirds of the time of the folder. */
const LARGE_INPUTS = ['test/security/hostile-bodies', 'test/security/large-rows']
/** A walk through the console: signing in, every page that work passes through. */
const WALK = 'test/e2e/work'
/** Ten thousand bodies for each family of operations, by the OpenAPI document and by the server. */
const DOCUMENT = 'test/http/document/'
/** The oldest PostgreSQL that is supported; everything else runs on the newest. */
const POSTGRES_15 = { ESCAPEMENT_TEST_POSTGRES: '15' }
/** The commands of README.md, typed into a shell. */
const README = 'test/examples/quickstart'

/**
 * The suites, in the order in which they begin. The first circle (`npm test`) is what a change can break, the second what
 * takes long to look at. What is in `except` belongs to another step. A step that `computes` never looks at a real clock:
 * it runs at low priority beside those that wait for one. Of these, what waits longest begins first, and many short files
 * come last, so that both cores are at work until the end. A step with `env` runs in other circumstances, and one that
 * runs files `again` has them from another step.
 */
export const STEPS = [
  {
    name: 'core',
    circle: 'first',
    folders: [
      'test/core/',
      'test/service/desk/',
      'test/service/turn/',
      'test/service/simulation/',
      'test/fuzz/parsers/',
      'test/ui/',
      'test/yaml/',
    ],
    computes: true,
  },
  { name: 'scenarios', circle: 'first', folders: SCENARIOS },
  {
    name: 'http',
    circle: 'first',
    folders: ['test/http/', 'test/fuzz/api/', 'test/fuzz/connections/'],
    except: [DOCUMENT],
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
      'test/config/',
      'test/engine/',
      'test/fuzz/command',
      'test/fuzz/waits',
      'test/log/',
      'test/metrics/',
      'test/service/as-code',
      'test/service/clock',
      'test/service/lease-watch',
      'test/service/node-lanes',
      'test/service/run-view',
      'test/service/schedule-',
      'test/service/settings',
      'test/service/stored-output',
      'test/tracing/',
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
    folders: ['test/executors/', 'test/outbound/', 'test/delivery/', 'test/channels/', 'test/plane/'],
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
