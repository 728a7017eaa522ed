// The parts of the comparison, in the order in which they run. A part is a module:
//   title              heading of its table
//   minutes            { full, quick }: its duration on two idle cores
//   settings           additional PostgreSQL settings (optional)
//   store = 'none'     needs no database (optional)
//   measure(bench)     → { rows | tables, facts, notes?, … }
const ENGINE = './parts/'
/** The modules of the parts, beside this file. */
export const PART_FILES = {
  submission: `${ENGINE}submission.mjs`,
  drain: `${ENGINE}drain.mjs`,
  latency: `${ENGINE}latency.mjs`,
  mixed: `${ENGINE}mixed.mjs`,
  schedules: `${ENGINE}schedules.mjs`,
  lateness: `${ENGINE}lateness.mjs`,
  idle: `${ENGINE}idle.mjs`,
  growth: `${ENGINE}growth.mjs`,
  backlog: `${ENGINE}backlog.mjs`,
  pinned: `${ENGINE}pinned.mjs`,
  payloads: `${ENGINE}payloads.mjs`,
  'orgs-at-once': `${ENGINE}orgs-at-once.mjs`,
  'idle-orgs': `${ENGINE}idle-orgs.mjs`,
  expiry: `${ENGINE}expiry.mjs`,
  joining: `${ENGINE}joining.mjs`,
  'after-kill': `${ENGINE}after-kill.mjs`,
  crowded: `${ENGINE}crowded.mjs`,
  retention: `${ENGINE}retention.mjs`,
  next: '../next.mjs',
  'in-process': '../in-process.mjs',
}

export const PART_NAMES = Object.keys(PART_FILES)

/** Loads parts by their names. */
export const loadParts = (names) =>
  Promise.all(names.map(async (name) => ({ name, ...(await import(new URL(PART_FILES[name], import.meta.url).href)) })))
