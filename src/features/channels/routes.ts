import { z } from 'zod'
import {
  channel,
  channelInput,
  channelPage,
  channelPatch,
  channelTest,
  hookAnswer,
  hookMessage,
  hookReceipt,
} from './schema.ts'
import { id, pageFilter } from '../../api/common.ts'
import { Refusal } from '../../api/refusals.ts'
import { updateChannel, createChannel, findChannels, getChannel, deleteChannel, testChannel } from './service.ts'
import { receiveHook } from './hooks.ts'
import type { HttpExchange } from '../../operations/context.ts'
import { answer, operation } from '../../operations/handler.ts'

const one = z.strictObject({ id })

/** The raw body of a request, which the signature covers. */
function bytesOf({ body }: HttpExchange): Buffer {
  if (Buffer.isBuffer(body)) return body
  throw new Refusal('MALFORMED', 'The body is missing; send it as application/json')
}

/** The API of channels and their webhooks. */
export const channelOperations = {
  'channels.create': operation({
    ...{ method: 'POST', path: '/api/v1/channels', tag: 'channels', permission: 'agents:write' },
    summary: 'Create a channel',
    description:
      'A Telegram bot, a Slack app, or a webhook for callers that sign their requests. Tokens and signing secrets ' +
      'are stored encrypted and never shown. A new channel accepts messages only from the users and chats it lists.',
    creates: true,
    body: channelInput,
    answers: { 201: channel },
    refusals: ['CONFLICT', 'SECRET_KEY'],
    examples: {
      body: { name: 'telegram', kind: 'telegram', agent_id: 'echo', token: '4711:secret', allowed_users: ['1001'] },
    },
  }).by(({ ports, caller, body }) => createChannel(ports, caller, body)),
  'channels.list': operation({
    ...{ method: 'GET', path: '/api/v1/channels', tag: 'channels', permission: 'agents:read' },
    summary: 'List channels and their state',
    query: pageFilter,
    answers: { 200: channelPage },
  }).by(({ ports, caller, query }) => findChannels(ports, caller, query)),
  'channels.get': operation({
    ...{ method: 'GET', path: '/api/v1/channels/:id', tag: 'channels', permission: 'agents:read' },
    summary: 'Get a channel and its state',
    params: one,
    answers: { 200: channel },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getChannel(ports, caller, params.id)),
  'channels.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/channels/:id', tag: 'channels', permission: 'agents:write' },
    summary: 'Update a channel',
    description:
      'An omitted secret keeps its value. A new token resets the read position, because it belongs to another bot.',
    params: one,
    body: channelPatch,
    answers: { 200: channel },
    refusals: ['NOT_FOUND', 'SECRET_KEY'],
    examples: { body: { allowed_users: ['1001', '1002'] } },
  }).by(({ ports, caller, params, body }) => updateChannel(ports, caller, { id: params.id, change: body })),
  'channels.enable': operation({
    ...{ method: 'POST', path: '/api/v1/channels/:id/enable', tag: 'channels', permission: 'agents:write' },
    summary: 'Enable a channel',
    params: one,
    answers: { 200: channel },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) =>
    updateChannel(ports, caller, { id: params.id, change: { enabled: true }, verb: 'enable' }),
  ),
  'channels.disable': operation({
    ...{ method: 'POST', path: '/api/v1/channels/:id/disable', tag: 'channels', permission: 'agents:write' },
    summary: 'Disable a channel',
    description: 'It receives no more messages. Replies of active runs are still sent.',
    params: one,
    answers: { 200: channel },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) =>
    updateChannel(ports, caller, { id: params.id, change: { enabled: false }, verb: 'disable' }),
  ),
  'channels.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/channels/:id', tag: 'channels', permission: 'agents:write' },
    summary: 'Delete a channel',
    description: 'Its sessions stay; pending replies cannot be sent.',
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => deleteChannel(ports, caller, params.id)),
  'channels.test': operation({
    ...{ method: 'POST', path: '/api/v1/channels/:id/test', tag: 'channels', permission: 'agents:write' },
    summary: 'Test the credentials of a channel',
    description: 'Asks the service which account the token belongs to. No message is sent.',
    params: one,
    answers: { 200: channelTest },
    refusals: ['NOT_FOUND', 'SECRET_KEY'],
  }).by(({ ports, caller, params }) => testChannel(ports, caller, params.id)),
  'hooks.receive': operation({
    ...{ method: 'POST', path: '/api/v1/hooks/:id', tag: 'channels', permission: 'none' },
    summary: 'Receive a webhook of a channel',
    description:
      "Requires a signature instead of a key: Standard Webhooks for a webhook channel, Slack's signature for an " +
      'app, the secret token for a Telegram bot in mode `webhook`. A repeated request gets the same response.',
    ...{ raw: true, http: true, newWork: true, admits: true },
    params: one,
    body: hookMessage,
    answers: { 200: hookAnswer, 202: hookReceipt },
    refusals: [
      ...(['NOT_FOUND', 'BAD_SIGNATURE', 'CONFLICT', 'IDEMPOTENCY_MISMATCH', 'SECRET_KEY'] as const),
      ...(['SESSION_QUEUE_FULL', 'BUDGET', 'RUNS_PER_DAY'] as const),
    ],
    examples: { body: { text: 'The nightly build of main has failed' } },
  }).by(async ({ ports, params, caller, http }) => {
    const { headers, parseJson: parse } = http
    const received = await receiveHook(ports, {
      ...{ id: params.id, headers, body: bytesOf(http), parse, trace: caller.trace ?? null },
    })
    if (received.kind === 'challenge') return answer(200, received.answer)
    return received.kind === 'done' ? answer(200, { ...received.receipt }) : answer(202, received.receipt)
  }),
}
