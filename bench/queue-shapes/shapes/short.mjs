// E. D with short keys: the numbers of agents-in-lanes and of sessions instead of org, lane and name in the hot indexes. In
// this world of one org and one lane the names stand for the numbers; only the indexes differ, so the difference to D is
// what long keys cost.
import * as line from './line.mjs'

export const name = 'E short'
export const { tables, history, newState, submit, turn, seed } = line
export const ddl = line.ddl
  .replace('d_queue (org_id, session_key, seq)', 'd_queue (session_key, seq)')
  .replace('d_ready (org_id, lane, agent_id, priority, place)', 'd_ready (agent_id, priority, place)')
  .replace('d_active (org_id, claim_no)', 'd_active (claim_no)')
  .replace('d_stand (org_id, lane, held, no)', 'd_stand (held, no)')
  .replace('d_stand (org_id, lane, agent_id, no)', 'd_stand (agent_id, no)')
