import type { ScheduleDraft } from '../contract/run.ts'
import type { OrgId } from '../core/ids.ts'
import { loadAgents } from '../store/agents.ts'
import { loadOrg } from '../store/orgs.ts'
import type { RunRecord } from '../store/run-reads.ts'
import type { Ports } from './ports.ts'
import { readRun } from './runs-read.ts'
import { textOf } from './session-messages.ts'

/** Names are read in lists; what is longer is cut where a list would cut it. */
const MOST_NAME = 60

/**
 * What a schedule that does the same as a run begins with. Nothing is kept: whoever asked adds when it is to happen and
 * makes the schedule of it.
 */
export async function draftSchedule(
  ports: Pick<Ports, 'database'>,
  asked: { readonly orgId: OrgId; readonly id: string },
): Promise<ScheduleDraft> {
  const { orgId } = asked
  const run = await readRun(ports, orgId, asked.id)
  const [agent] = await loadAgents(ports.database, { orgId, ids: [run.agentId] })
  const org = await loadOrg(ports.database, orgId)
  return {
    name: nameOf(run),
    ...(agent === undefined ? {} : { agent_id: agent.id }),
    payload: payloadOf(run),
    timezone: org?.defaultTimezone ?? 'UTC',
  }
}

/** The first line of what the run was told. */
function nameOf(run: RunRecord): string {
  const text = textOf(run.payload)?.trim() ?? ''
  const [line = ''] = text.split('\n', 1)
  const letters = Array.from(line.trim())
  if (letters.length === 0) return `Like ${run.id}`
  return letters.length <= MOST_NAME
    ? letters.join('')
    : `${letters
        .slice(0, MOST_NAME - 1)
        .join('')
        .trimEnd()}…`
}

/** A message becomes a prompt, and what came with it its context; everything else stays what it was. */
function payloadOf({ payload, trigger }: RunRecord): unknown {
  const prompt = textOf(payload)
  if (prompt === null || (trigger !== 'message' && !isMessage(payload))) return payload
  const { attachments } = payload as { readonly attachments?: readonly unknown[] }
  return attachments === undefined || attachments.length === 0 ? { prompt } : { prompt, context: { attachments } }
}

/** The retry of a message carries what the message carried. */
const isMessage = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && 'messageIds' in payload
