import { expect } from 'vitest'
import type { Row } from '../row.ts'

const IN_DEPTH = 'schedules in depth › makes a schedule with a preview, watches it run, says why, and switches it off'
const FROM_CHAT = 'runs and chat › talks, stops, shows what waits, and makes a schedule of an answer in three steps'
const REPEATS = 'runs and chat › repeats a failed run from its page, and another browser sees it happen'
const BULK = 'the console › disables three at once, tells two browsers, and takes it back'

const inDepth = ['test/e2e/schedules.test.ts', IN_DEPTH] as const
const fromChat = ['test/e2e/work.test.ts', FROM_CHAT] as const
const repeats = ['test/e2e/work.test.ts', REPEATS] as const
const bulk = ['test/e2e/console.test.ts', BULK] as const
const inPages = (title: string) => ['test/e2e/control-plane.test.ts', `the pages of seed 002 › ${title}`] as const

const TABLE = inPages('list schedules with their state, next run, last results and failures, and filter them')
const EDITOR = inPages('edit name, timing, zone, retries and payload in one drawer')
const LOG = inPages('show the error of a failed run in the log, also after a reload')
const TALK = inPages('lead from a failed run to its conversation')

/** Pages, parts and ease of use: lines 143 to 176. */
export const CONSOLE: readonly Row[] = [
  { line: '143', says: 'The page of schedules is at `/automation/schedules`.', shownBy: inDepth },
  { line: '144', says: 'The page filters its list.', shownBy: TABLE },
  { line: '144', says: 'The page creates and edits.', shownBy: EDITOR },
  { line: '144', says: 'The page enables and disables.', shownBy: inDepth },
  { line: '144', says: 'The page shows run logs.', shownBy: inDepth },
  { line: '144', says: 'The page runs a failed run again.', shownBy: repeats },
  { line: '144', says: 'The page shows what went wrong.', shownBy: repeats },
  { line: '148', says: 'A result in the conversation has the action "Make this a schedule".', shownBy: fromChat },
  { line: '149', says: 'The action fills in prompt, agent and what the output must be.', shownBy: fromChat },
  { line: '150', says: 'The action opens the same editor, which uses the same API.', shownBy: fromChat },
  { line: '157', says: 'The table shows the state.', shownBy: TABLE },
  { line: '157', says: 'The table shows the next run.', shownBy: TABLE },
  { line: '157', says: 'The table shows the last results.', shownBy: TABLE },
  { line: '157', says: 'The table shows the number of failures.', shownBy: TABLE },
  { line: '158', says: 'Several schedules are enabled or disabled at once.', shownBy: bulk },
  { line: '160', says: 'The editor has the basics: name, description, agent.', shownBy: EDITOR },
  { line: '161', says: 'The editor has cron, interval and once.', shownBy: EDITOR },
  { line: '162', says: 'The editor has the time zone.', shownBy: EDITOR },
  { line: '163', says: 'The editor has the retry policy.', shownBy: EDITOR },
  { line: '164', says: 'The editor has the payload.', shownBy: EDITOR },
  { line: '166', says: 'The run log shows the latest runs.', shownBy: inDepth },
  { line: '167', says: 'The run log shows the error of a run.', shownBy: LOG },
  { line: '167', says: 'The run log leads to the conversation of a run.', shownBy: TALK },
  { line: '168', says: 'A schedule is created from a conversation.', shownBy: fromChat },
  { line: '173', says: 'A cron expression is previewed as a sentence with its next times.', shownBy: inDepth },
  {
    line: '174',
    says: 'Expression and zone are validated before a schedule is saved.',
    check: async (world) => {
      const preview = (body: object) => world.post('/api/v1/schedules/preview', body)
      expect((await preview({ cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' })).status).toBe(200)
      const flawed = await preview({ cron: '0 25 * * *', timezone: 'Europe/Nowhere' })
      expect(flawed.status).toBe(400)
      expect(JSON.stringify(flawed.body['errors'])).toMatch(/\/cron.*\/timezone|\/timezone.*\/cron/)
    },
  },
  { line: '175', says: 'A failed run can be retried.', shownBy: repeats },
  { line: '175', says: 'A failed run leads to its conversation.', shownBy: TALK },
  { line: '176', says: 'After a reload nothing is lost: everything comes from the server.', shownBy: LOG },
]
