/** What may pass from the first step to the last. */
export const WHOLE = { name: 'all steps', seconds: 720 }

const FAST = { name: 'core + simulation', seconds: 90 }

const STORED = { name: 'store + service', seconds: 120 }

/**
 * The suites, in the order in which they run. Steps that share a budget share its seconds. One with a second budget for
 * running `beside` others computes on a clock of its own: it takes what those that wait for real clocks leave of the cores.
 */
export const STEPS = [
  {
    name: 'core',
    folders: [
      'test/core/',
      'test/service/desk/',
      'test/service/turn/',
      'test/service/lease-watch',
      'test/service/node-lanes',
      'test/service/simulation/',
      'test/service/as-code',
      'test/service/clock',
      'test/service/run-view',
      'test/service/schedule-',
      'test/service/settings',
      'test/engine/',
      'test/cli/',
      'test/client/',
      'test/config/',
      'test/fuzz/command',
      'test/fuzz/parsers/',
      'test/log/',
      'test/metrics/',
      'test/tracing/',
      'test/ui/',
      'test/yaml/',
    ],
    budget: FAST,
  },
  {
    name: 'simulation',
    folders: ['test/simulation/'],
    budget: FAST,
    beside: { name: 'simulation, beside other steps', seconds: 180 },
  },
  {
    name: 'agreement',
    folders: ['test/agreement/'],
    budget: { name: 'the simulator and the tables', seconds: 60 },
    beside: { name: 'the simulator and the tables, beside other steps', seconds: 180 },
  },
  {
    name: 'execution plane',
    folders: ['test/executors/', 'test/outbound/', 'test/delivery/', 'test/channels/', 'test/plane/'],
    budget: { name: 'execution plane', seconds: 90 },
  },
  {
    name: 'faults',
    folders: ['test/faults/'],
    budget: { name: 'faulted simulation', seconds: 120 },
    beside: { name: 'faulted simulation, beside other steps', seconds: 540 },
  },
  { name: 'store', folders: ['test/store/', 'test/service/database/'], budget: STORED },
  {
    name: 'http',
    folders: ['test/http/', 'test/fuzz/api/', 'test/fuzz/connections/'],
    budget: { name: 'http', seconds: 120 },
  },
  { name: 'security', folders: ['test/security/'], budget: { name: 'security', seconds: 60 } },
  { name: 'chaos', folders: ['test/chaos/'], budget: { name: 'chaos', seconds: 90 } },
  { name: 'scenarios', folders: ['test/scenarios/'], budget: { name: 'scenarios', seconds: 120 } },
  { name: 'http scenarios', folders: ['test/http-scenarios/'], budget: { name: 'scenarios over HTTP', seconds: 90 } },
  { name: 'coverage', folders: ['test/coverage/'], budget: { name: 'coverage', seconds: 120 } },
  { name: 'serve', folders: ['test/serve/'], budget: { name: 'serve', seconds: 90 } },
  { name: 'browser', folders: ['test/e2e/'], budget: { name: 'the console in a browser', seconds: 120 } },
  { name: 'remote', folders: ['test/remote/'], budget: { name: 'commands against a server', seconds: 90 } },
  { name: 'examples', folders: ['test/examples/'], budget: { name: 'examples', seconds: 60 } },
  { name: 'docs', folders: ['test/docs/', 'test/tooling/'], budget: { name: 'docs', seconds: 60 } },
]
