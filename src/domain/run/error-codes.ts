/**
 * The error codes of attempts. `retryable` applies when the executor does not say otherwise.
 * docs/reference/error-codes.md is generated from this table.
 */
export const ERROR_CODES = {
  executor_http_3xx: { retryable: false, summary: 'The executor answered with a redirect that is not followed' },
  executor_http_4xx: { retryable: false, summary: 'The executor refused the request (408, 425 and 429 are retried)' },
  executor_http_5xx: { retryable: true, summary: 'The executor failed' },
  network: { retryable: true, summary: 'The executor could not be reached, or the connection broke' },
  timeout: { retryable: true, summary: 'The attempt took longer than its time limit' },
  callback_timeout: { retryable: true, summary: 'No callback arrived in time' },
  node_lost: { retryable: true, summary: 'The node or worker that ran the attempt went away' },
  node_shutdown: { retryable: true, summary: 'The node that ran the attempt shut down' },
  executor_offline: { retryable: true, summary: 'Nothing that can execute the agent is connected' },
  tab_unresolved: { retryable: false, summary: 'No browser instance has the tab' },
  tab_missing: { retryable: false, summary: 'The action requires a tabId' },
  malformed_answer: { retryable: true, summary: 'The answer could not be understood' },
  answer_too_large: { retryable: false, summary: 'The answer is larger than its limit' },
  condition_failed: { retryable: true, summary: 'The answer does not meet success_when' },
  agent_error: { retryable: true, summary: 'The agent reported an error' },
  command_failed: { retryable: true, summary: 'The command ended with an exit code other than 0' },
  outbound_refused: { retryable: false, summary: 'The outbound guard refused the address' },
  secret_refused: {
    retryable: false,
    summary: 'A secret is missing, cannot be decrypted or is not allowed for that host',
  },
  probe_failed: { retryable: true, summary: 'The probe of the run failed' },
  budget: { retryable: false, summary: 'A budget did not allow it' },
  internal: { retryable: true, summary: 'Escapement failed while running the attempt' },
} as const satisfies Record<string, { readonly retryable: boolean; readonly summary: string }>

export type ErrorCode = keyof typeof ERROR_CODES
