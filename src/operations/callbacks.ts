import { z } from 'zod'
import { callbackAnswer, resultInput } from '../features/runs/schema.ts'
import { settleByToken } from '../service/run-actions.ts'
import { operation } from './handler.ts'

/** Results that come later. */
export const callbackOperations = {
  'callbacks.settle': operation({
    ...{ method: 'POST', path: '/api/v1/callbacks/:token', tag: 'callbacks', permission: 'none' },
    summary: 'Report the result of a deferred attempt',
    description:
      'The token authenticates the report. A repeated report, the token of an earlier attempt, and a report after ' +
      'the deadline get `ignored: true` and change nothing.',
    params: z.strictObject({ token: z.string().min(1).max(512) }),
    body: resultInput,
    answers: { 200: callbackAnswer },
    refusals: ['NOT_FOUND'],
    examples: {
      body: { status: 'success', output: 'Three mails need an answer', summary: '3 mails' },
      answer: { status: 'success', ignored: false },
    },
  }).by(({ ports, params, body }) => settleByToken(ports, params.token, body)),
}
