import type { Speech, TryOutcome } from '../domain/delivery/message.ts'
import { loadChannelNamed } from '../features/channels/store.ts'
import { closeMark, deleteMark, loadPlaceOfSession } from '../features/channels/chats-store.ts'
import { openChannel } from './channel/credentials.ts'
import type { Ports } from './ports.ts'
import { cutText } from './stored-output.ts'

type Speaking = Pick<Ports, 'database' | 'vault' | 'channels' | 'clock' | 'turns'>

const MOST_TOLD = 16_384
const DONE: TryOutcome = { ok: true, statusCode: null }

/** Says something where a conversation is held. A session that is held in no channel gets it as an event. */
export async function speak(ports: Speaking, speech: Speech, signal: AbortSignal): Promise<TryOutcome | null> {
  const { orgId, to, text, runId } = speech
  const place =
    'session' in to
      ? await loadPlaceOfSession(ports.database, { orgId, key: to.session })
      : { channel: to.channel, peer: to.to }
  if (place === undefined) return tellSession(ports, speech)
  const row = await loadChannelNamed(ports.database, { orgId, name: place.channel })
  if (row === undefined)
    return {
      ok: false,
      statusCode: null,
      error: 'target_gone',
      message: `there is no channel ${place.channel} any more`,
    }
  const open = await openChannel(ports, row)
  const mark = runId === null ? undefined : await closeMark(ports.database, { orgId, runId, now: ports.clock.now() })
  const isHere = mark !== undefined && mark.channelId === row.id && mark.peer === place.peer
  const shown = isHere ? { placeholder: mark.placeholder, marked: mark.messages } : { placeholder: null, marked: [] }
  const said = await ports.channels.say(open, { peer: place.peer, text, ...shown }, signal)
  if (said?.ok === true && isHere) await deleteMark(ports.database, mark)
  return said
}

async function tellSession({ turns }: Speaking, { orgId, to, text, runId }: Speech): Promise<TryOutcome> {
  const session = 'session' in to ? to.session : null
  await turns.take({
    orgId,
    apply: (desk) => {
      const data = { session, run_id: runId, empty: text === '', text: cutText(text, MOST_TOLD) }
      desk.changes.events.push({ kind: 'outbound', subject: runId ?? session ?? '', data })
    },
  })
  return DONE
}
