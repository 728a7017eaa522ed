import { afterEach, describe, expect, it } from 'vitest'
import type { InvitationView } from '../../src/features/access/restrictions-schema.ts'
import { agentId, attemptId, laneName, runId } from '../../src/domain/ids.ts'
import { createExecutions, type ReportedAttempt } from '../../src/engine/executions.ts'
import { createCommandExecutor } from '../../src/executors/command/execute.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { createHttpExecutor } from '../../src/executors/http/execute.ts'
import { inProcess } from '../../src/executors/in-process/execute.ts'
import { readResponseResult } from '../../src/features/runs/result-input.ts'
import { ORG } from '../platform/db/records.ts'
import { NOW } from '../support/builders.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { commandOptions } from './command-stage.ts'
import { httpOptions, openOutbound } from './stages.ts'
import { aContext, anAttempt } from './suite.ts'

// What an attempt of an agent with self_service is handed, by each executor that hands it on, and that nobody else sees it.

const KEY = `esa_abc.${'k'.repeat(43)}`
const INVITATION: InvitationView = {
  ...{ api_url: 'http://me.example/', mcp_url: 'http://me.example/mcp', key: KEY },
  expires_at: '2026-01-15T12:10:00.000Z',
}
const invited = () => ({ ...aContext(), invite: () => Promise.resolve(INVITATION) })

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

describe('an attempt that may make things by itself', () => {
  it('finds where to ask and its key in the dispatch, unless its agent has a body of its own', async () => {
    const peer = await startPeer((_, response) => json(response, 200, {}))
    const outbound = openOutbound()
    ends.push(peer.close, outbound.close)
    const call = async (executor: object, context = invited()): Promise<unknown> => {
      const run = createHttpExecutor({
        ...{ send: outbound.send, readResult: readResponseResult, callbackUrl: () => null },
        optionsOf: () => Promise.resolve(httpOptions({ ...executor, url: peer.url })),
      })
      await run(anAttempt(), context)
      return JSON.parse(peer.heard.at(-1)?.body ?? 'null')
    }
    expect(await call({})).toMatchObject({ escapement: INVITATION })
    expect(await call({ body: { mine: 1 } })).toEqual({ mine: 1 })
    expect(await call({}, { ...invited(), invite: () => Promise.resolve(null) } as never)).not.toHaveProperty(
      'escapement',
    )
  })

  it('finds them in the environment of a program', async () => {
    const run = createCommandExecutor({
      optionsOf: () =>
        Promise.resolve(commandOptions({ program: '/bin/sh', args: ['-c', 'echo "$ESCAPEMENT_URL $ESCAPEMENT_KEY"'] })),
      rules: () => ({ enabled: true, programs: ['/bin/sh'], directories: ['/'] }),
      ...{ account: null, readResult: readResponseResult, lastSessionOf: () => Promise.resolve(null) },
    })
    expect((await run(anAttempt(), invited())).output).toBe(`http://me.example/ ${KEY}`)
  })

  it('asks for them where it is a function, and what it says of the key nobody hears', async () => {
    const reported: ReportedAttempt[] = []
    const said: unknown[] = []
    const asked: unknown[] = []
    const executor: Executor = inProcess(async (_attempt, { escapement, progress }) => {
      const { key } = (await escapement()) ?? { key: '' }
      progress({ text: `my key is ${key}` })
      return { key, other: 'said' }
    })
    const executions = createExecutions({
      executorFor: () => executor,
      hold: () => () => undefined,
      report: (report) => Promise.resolve(void reported.push(report)),
      progress: ({ event }) => void said.push(event),
      ...{
        offer: () => Promise.resolve(''),
        defer: () => Promise.resolve(''),
        deferToService: () => Promise.resolve(),
      },
      createAttemptKey: (about) => Promise.resolve(void asked.push(about)).then(() => INVITATION),
    })
    const run = {
      orgId: ORG,
      id: runId('run_1'),
      agentId: agentId('writer'),
      endsBy: NOW,
      executorKey: 'x',
      attempt: 1,
    }
    executions.reserve({ run, lane: laneName('main'), attemptId: attemptId('att_1'), payload: null } as never)()
    await executions.idle()
    const named = { orgId: ORG, runId: 'run_1', attemptId: 'att_1', agentId: 'writer', endsBy: NOW }
    expect(asked).toEqual([named])
    expect(said).toEqual([{ text: 'my key is ***' }])
    expect(reported[0]?.report.output).toEqual({ key: '***', other: 'said' })
  })
})
