import { describe, expect, it } from 'vitest'
import { orgId, type OrgId } from '../../../src/domain/ids.ts'
import { createNotifier, readChanges, writeChanges } from '../../../src/engine/loops/notifier.ts'

const many = (count: number): ReadonlyMap<OrgId, number> =>
  new Map(Array.from({ length: count }, (_, n) => [orgId(`org_${String(n).padStart(26, '0')}`), n]))

describe('what a node says of orgs that have changed', () => {
  it('is read as it was written, in pieces that PostgreSQL carries', () => {
    for (const count of [1, 2, 3_000]) {
      const changed = many(count)
      const payloads = writeChanges('nod_1', changed)
      expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8_000)
      const read = payloads.map(readChanges)
      expect(read.map((said) => said?.nodeId)).toEqual(payloads.map(() => 'nod_1'))
      expect(new Map(read.flatMap((said) => [...(said?.changed ?? [])]))).toEqual(changed)
    }
  })

  it('names no org when it comes from version 0.1.0, or cannot be read', () => {
    for (const payload of ['', '*', 'nod_1', 'nod_1 org', 'nod_1 org=x', 'nod_1 =1'])
      expect(readChanges(payload)).toBeNull()
  })
})

describe('many turns in one breath', () => {
  it('are told in two words: the first at once, the rest together', async () => {
    const sent: (readonly [string, readonly string[]])[] = []
    let wake = (): void => undefined
    const notifier = createNotifier({
      ...{ nodeId: () => 'n', channels: { turn: 't', plan: 'p' }, stopping: new AbortController().signal },
      send: (channel, payloads) => Promise.resolve(void sent.push([channel, payloads])),
      sleep: () =>
        new Promise((resolve) => {
          wake = resolve
        }),
      failed: (error) => {
        throw error
      },
    })
    const tell = (org: string, no: number, plan = false): void => notifier.changed({ orgId: orgId(org), no, plan })
    tell('a', 1)
    expect(sent).toEqual([['t', ['n a=1']]])
    tell('a', 2)
    tell('b', 7, true)
    tell('a', 3)
    await new Promise(setImmediate)
    wake()
    await new Promise(setImmediate)
    expect(sent.slice(1)).toEqual([
      ['t', ['n a=3 b=7']],
      ['p', ['']],
    ])
  })
})
