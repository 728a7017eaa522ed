/** What must have been met in a hundred histories: what never happened was not compared. */
export const EXPECTED: readonly string[] = [
  ...['success', 'failed', 'timeout', 'cancelled', 'skipped', 'queued', 'waiting', 'running'].map(
    (one) => `status ${one}`,
  ),
  ...['misfire', 'overlap', 'failure', 'concurrency', 'queue_full', 'superseded'].map((one) => `reason ${one}`),
  ...['schedule', 'catchup', 'manual'].map((one) => `trigger ${one}`),
  ...['node_lost', 'timeout', 'network', 'agent_error'].map((one) => `error ${one}`),
  ...['engine', 'stall', 'offline'].map((one) => `outage ${one}`),
  ...['run_now', 'enable', 'disable'].map((one) => `intervention ${one}`),
  ...['skip', 'queue', 'pause'].map((one) => `budget ${one}`),
  'range',
]
