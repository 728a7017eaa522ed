/** The suites, in the order in which they run. Steps that share a budget share its seconds. */
const FAST = { name: 'core + simulation', seconds: 90 }

export const STEPS = [
  {
    name: 'core',
    folders: ['test/core/', 'test/service/', 'test/engine/', 'test/executors/', 'test/cli/', 'test/tooling/'],
    budget: FAST,
  },
  { name: 'simulation', folders: ['test/simulation/'], budget: FAST },
  { name: 'store', folders: ['test/store/'], budget: { name: 'store + service', seconds: 120 } },
  { name: 'docs', folders: ['test/docs/'], budget: { name: 'docs', seconds: 60 } },
]
