import type { channelOperations } from '../../operations/channels.ts'
import { Refusal } from '../../contract/refusals.ts'
import { receiveHook } from '../../service/channel/hooks.ts'
import {
  changeChannel,
  createChannel,
  findChannels,
  getChannel,
  removeChannel,
  testChannel,
} from '../../service/channel/channels.ts'
import { answer, type Call, type HandlersOf } from '../call.ts'
import { readJsonBody } from '../json-body.ts'

type Receiving = Call<(typeof channelOperations)['hooks.receive']>

/** The bytes of a request, which its signature is of. */
function bytesOf({ request }: Receiving): Buffer {
  if (Buffer.isBuffer(request.body)) return request.body
  throw new Refusal('MALFORMED', 'The body is missing: send it as application/json')
}

const parse = (bytes: Uint8Array): unknown => readJsonBody(Buffer.from(bytes))

/** Where messages come from besides the API. */
export const channelHandlers: HandlersOf<typeof channelOperations> = {
  'channels.create': ({ ports, caller, body }) => createChannel(ports, caller, body),
  'channels.list': ({ ports, caller, query }) => findChannels(ports, caller, query),
  'channels.get': ({ ports, caller, params }) => getChannel(ports, caller, params.id),
  'channels.update': ({ ports, caller, params, body }) => changeChannel(ports, caller, { id: params.id, change: body }),
  'channels.enable': ({ ports, caller, params }) =>
    changeChannel(ports, caller, { id: params.id, change: { enabled: true }, verb: 'enable' }),
  'channels.disable': ({ ports, caller, params }) =>
    changeChannel(ports, caller, { id: params.id, change: { enabled: false }, verb: 'disable' }),
  'channels.delete': async ({ ports, caller, params }) => {
    await removeChannel(ports, caller, params.id)
    return undefined
  },
  'channels.test': ({ ports, caller, params }) => testChannel(ports, caller, params.id),
  'hooks.receive': async (call) => {
    const { ports, params, request, caller } = call
    const body = bytesOf(call)
    const heard = await receiveHook(ports, {
      ...{ id: params.id, headers: request.headers, body, parse, trace: caller.trace ?? null },
    })
    if (heard.kind === 'challenge') return answer(200, heard.answer)
    return heard.kind === 'done' ? answer(200, { ...heard.receipt }) : answer(202, heard.receipt)
  },
}
