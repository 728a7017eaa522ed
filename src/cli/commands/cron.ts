import type { Command } from 'commander'
import { runCronNext } from '../cron-next.ts'
import { runCronPreview, type PreviewOptions } from '../cron-preview.ts'
import { commandOf, type Desk } from '../remote/talk.ts'

const NEXT = 'answer JSON lines {"expr","from","tz"?,"dst"?,"dayMatch"?,"inclusive"?} with {"next"} or {"error"}'

/** `escapement cron …`: the evaluator, without a server. */
export function addCron(cron: Command, { terminal, settle }: Desk): void {
  commandOf(cron, 'next', NEXT).action(async () => settle(await runCronNext(terminal)))
  commandOf(cron, 'preview <expr>', 'show when an expression fires, and what clock changes do to it')
    .option('--tz <zone>', 'IANA time zone', 'UTC')
    .option('--dst <policy>', 'at clock changes: vixie, skip, shift or both', 'vixie')
    .option('--day-match <how>', 'when both day fields are restricted: or, and', 'or')
    .option('--count <n>', 'how many times to show', '10')
    .option('--from <time>', 'search after this RFC 3339 time instead of now')
    .option('--json', 'print one JSON object')
    .action(async (expr: string, options: PreviewOptions) => settle(await runCronPreview(terminal, expr, options)))
}
