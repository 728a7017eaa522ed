import { crontabInput, importInput, importReport } from './schema.ts'
import { words, wordsInput } from '../schedules/views-schema.ts'
import { importCrontab } from './crontab.ts'
import { importClawJobs } from './openclaw.ts'
import { parseTimeWords } from '../schedules/preview.ts'
import { operation } from '../../operations/handler.ts'

/** The API that creates schedules from text and from the files of other schedulers. */
export const importOperations = {
  'schedules.parse': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/parse', tag: 'schedules', permission: 'schedules:read' },
    restrictedAccess: 'free',
    summary: 'Parse a schedule from natural language',
    description:
      'Accepts English or Chinese, by a fixed grammar. The response has the fields of a schedule, their meaning as a ' +
      'sentence and as dates, and a note for every assumption. Text that cannot be parsed is refused with the position ' +
      'of the error.',
    body: wordsInput,
    answers: { 200: words },
    examples: { body: { text: 'every weekday at 9 in Berlin' } },
  }).by(({ ports, caller, body }) => parseTimeWords(ports, caller, body)),
  'import.crontab': operation({
    ...{ method: 'POST', path: '/api/v1/import/crontab', tag: 'import', permission: 'schedules:write' },
    summary: 'Import a crontab as schedules',
    description:
      'With `plan` nothing changes. Importing the same file again changes nothing. Commands require an owner of ' +
      "the operator org and a program on the operator's list; with `agent_id` the lines become prompts instead.",
    newWork: true,
    body: crontabInput,
    answers: { 200: importReport },
    examples: { body: { text: '# Good morning\n0 9 * * 1-5 say good morning\n', plan: true } },
  }).by(async ({ ctx, ports, caller, body }) => {
    const report = await importCrontab(ports, caller, body)
    if (!report.plan) ctx.wakeSchedules()
    return report
  }),
  'import.openclaw': operation({
    ...{ method: 'POST', path: '/api/v1/import/openclaw', tag: 'import', permission: 'schedules:write' },
    summary: 'Import OpenClaw cron jobs as schedules',
    description:
      "The text is the content of OpenClaw's cron/jobs.json. With `plan` nothing changes. Importing the same file again" +
      ' changes nothing.',
    newWork: true,
    body: importInput,
    answers: { 200: importReport },
    examples: { body: { text: '{"version":1,"jobs":[]}', plan: true } },
  }).by(async ({ ctx, ports, caller, body }) => {
    const report = await importClawJobs(ports, caller, body)
    if (!report.plan) ctx.wakeSchedules()
    return report
  }),
}
