/** The sample of seed 003 as it stands in the document, with the comment that JSON does not have. */
export const SAMPLE_TEXT = `{
  "name": "demo-task",
  "cron_expr": "*/5 * * * * *",  // 每 5 秒
  "max_concurrency": 1,
  "concurrency_policy": "SKIP",
  "overlap_action": "CANCEL_PREV",
  "failure_action": "RETRY",
  "misfire_policy": "CATCH_UP_LIMITED",
  "catchup_limit": 3,
  "timeout_seconds": 8
}`

/** The same without its comment. */
export const SAMPLE_JSON = SAMPLE_TEXT.replace(/ {2}\/\/.*$/m, '')

/** Its fields. */
export const SAMPLE = {
  name: 'demo-task',
  cron_expr: '*/5 * * * * *',
  max_concurrency: 1,
  concurrency_policy: 'SKIP',
  overlap_action: 'CANCEL_PREV',
  failure_action: 'RETRY',
  misfire_policy: 'CATCH_UP_LIMITED',
  catchup_limit: 3,
  timeout_seconds: 8,
} as const

const { name: _name, cron_expr: _cron, ...policies } = SAMPLE

/** Its fields but for its name and its cron. */
export const SAMPLE_POLICIES = policies
