import type { RefusalCode } from '../../api/refusals.ts'

/** What a model can do about a refusal. Where nothing is said, the sentence of the refusal says it. */
const ADVICE: Partial<Readonly<Record<RefusalCode | 'UNREACHABLE' | 'BAD_ANSWER', string>>> = {
  VALIDATION: 'Correct the named arguments and call again.',
  MALFORMED: 'Send plain JSON and call again.',
  UNAUTHENTICATED: 'Ask the person for a key that is still good; calling again with this one changes nothing.',
  FORBIDDEN: 'Ask the person for a key with that permission; do not try another way.',
  GUARD_RAIL: 'Stay within what the key allows, or ask the person for another key; do not try another way.',
  GUARD_RAIL_RATE: 'Wait as long as it says; asking more often does not help.',
  LINEAGE_DEPTH: 'Do the work in this run, or leave it to the person.',
  LINEAGE_LOOP: 'The schedule wakes you by itself; do not wake it.',
  PENDING_APPROVAL: 'Tell the person that somebody has to approve it in the console.',
  NOT_FOUND: 'Look up the id with schedule_list; you see only what your key may see.',
  CONFLICT: 'Look at the present state with schedule_list, then decide.',
  CONCURRENCY_LIMIT: 'A run of it goes on; wait until it has ended, or stop it.',
  ALREADY_ENDED: 'Nothing is left to stop.',
  STALE_VERSION: 'Somebody has changed it: read it again with schedule_list, and call with the new version.',
  BODY_TOO_LARGE: 'Send less.',
  QUEUE_FULL: 'Wait as long as it says, then call again.',
  SESSION_QUEUE_FULL: 'Wait until the conversation has caught up, then call again.',
  RUNS_PER_DAY: 'Nothing more runs today; tell the person.',
  BUDGET: 'The budget is used up: tell the person, or wait for the next period.',
  RATE_LIMITED: 'Wait a second, then call again, and more slowly.',
  DRAINING: 'Call again in a few seconds.',
  BUSY: 'Call again in a few seconds.',
  NOT_STARTED: 'Call again in a few seconds.',
  DATABASE_AWAY: 'Call again in a few seconds.',
  UNREACHABLE: 'The server of the schedules does not answer: tell the person, and try again later.',
  BAD_ANSWER: 'What answers is no Escapement server: tell the person.',
  INTERNAL: 'Tell the person, with the id of the request.',
}

/** What to do about a refusal; null where its sentence has said it. */
export const adviceFor = (code: string): string | null => (ADVICE as Readonly<Record<string, string>>)[code] ?? null
