import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { givenDocument, type AsCodeDocument, type PlanView } from '../../../src/features/as-code/schema.ts'
import { scheduleInput } from '../../../src/features/schedules/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { Refusal } from '../../../src/api/refusals.ts'
import { MASK } from '../../../src/domain/secret/mask.ts'
import { createAgent } from '../../../src/features/agents/service.ts'
import { applyDocument, exportDocument, planDocument } from '../../../src/features/as-code/service.ts'
import { createBudget } from '../../../src/features/budgets/service.ts'
import type { Caller } from '../../../src/features/access/caller.ts'
import { createIdGenerator } from '../../../src/engine/ids.ts'
import type { Ports } from '../../../src/engine/ports.ts'
import { createSchedule } from '../../../src/features/schedules/service.ts'
import { createTarget } from '../../../src/features/targets/service.ts'
import { readYaml, writeYaml } from '../../../src/platform/yaml/yaml.ts'
import { model, openModel, type Model } from './as-code-models.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

/** More with AS_CODE_CASES. */
const CASES = Number(process.env['AS_CODE_CASES'] ?? 25)

let world: ServiceWorld
let ports: Ports
let here: Caller
let elsewhere: Caller

beforeAll(async () => {
  world = await createServiceWorld()
  const newId = createIdGenerator((count) => new Uint8Array(count).fill(7))
  ports = { ...world.ports, newId: (kind, now) => newId(kind, now) }
  here = { ...world.caller, isAdmin: true, writesBudgets: true }
  elsewhere = { ...world.stranger, isAdmin: true, writesBudgets: true }
})
afterAll(() => world.drop())

const may = (): boolean => true
const exported = (caller: Caller): Promise<AsCodeDocument> => exportDocument(ports, caller, { may })
const read = schemaReader(givenDocument)
const readSchedule = schemaReader(scheduleInput)
const planned = async (caller: Caller, document: unknown): Promise<PlanView> =>
  planDocument(ports, caller, { document: read(document), may, prune: true })
const applied = async (caller: Caller, document: unknown): Promise<PlanView> =>
  applyDocument(ports, caller, { document: read(document), may })

const empty = async (): Promise<void> => {
  await world.db.query('delete from schedule; delete from budget; delete from target; delete from agent')
}

/** What a service does not take is not in the org, and no matter of a document. */
async function taken<View extends { readonly id: string }>(making: Promise<View>): Promise<readonly View[]> {
  try {
    return [await making]
  } catch (error) {
    if (error instanceof Refusal) return []
    throw error
  }
}

const each = async <Input, View>(inputs: readonly Input[], make: (input: Input) => Promise<readonly View[]>) => {
  const made: View[] = []
  for (const input of inputs) made.push(...(await make(input)))
  return made
}

/** Makes the org by the very services that the API calls. Answers with how many things it has. */
async function make({ agents, targets, schedules, budgets }: Model, caller = here): Promise<number> {
  const usual = { id: 'writer', name: 'Writer', executor: { kind: 'echo' } } as const
  const madeAgents = await each([usual, ...agents], (input) => taken(createAgent(ports, caller, input)))
  const madeTargets = await each(targets, (input) => taken(createTarget(ports, caller, input)))
  const madeSchedules = await each(schedules, ({ input, agent, target }) => {
    const who = input.executor === undefined ? madeAgents[agent] : undefined
    const where = madeTargets[target]
    return taken(
      createSchedule(
        ports,
        caller,
        readSchedule({
          ...input,
          ...(who === undefined ? {} : { agent_id: who.id }),
          ...(where === undefined ? {} : { delivery: { target_id: where.id } }),
        }),
      ),
    )
  })
  const madeBudgets = await each(budgets, ({ input, of, index }) => {
    const whose = of === 'agent' ? madeAgents[index] : of === 'schedule' ? madeSchedules[index] : undefined
    const scope = whose === undefined ? {} : of === 'agent' ? { agent_id: whose.id } : { schedule_id: whose.id }
    return taken(createBudget(ports, caller, { ...input, ...scope }))
  })
  return madeAgents.length + madeTargets.length + madeSchedules.length + madeBudgets.length
}

/** Nothing in it is hidden, so that it can be made anew elsewhere. */
const isWhole = ({ targets = [], ...document }: AsCodeDocument): boolean =>
  !JSON.stringify(document).includes(JSON.stringify(MASK)) && !targets.some(({ kind }) => kind === 'slack')

describe('a random org', () => {
  const seen = { things: 0, whole: 0, withIds: 0 }

  it('comes back from its document with nothing to do, and elsewhere gives the same document', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(model, openModel), async (drawn) => {
        await empty()
        const things = await make(drawn)
        const document = await exported(here)
        const { counts, items } = await planned(here, document)
        expect(items.filter(({ action, flaws }) => action !== 'unchanged' || flaws.length > 0)).toEqual([])
        expect(counts.unchanged).toBe(things)
        expect(readYaml([{ name: 'org.yaml', text: writeYaml({ ...document }) }])).toMatchObject({ value: document })
        seen.things += things
        if (JSON.stringify(document).includes('"id":"sch_')) seen.withIds += 1
        if (!isWhole(document)) return
        seen.whole += 1
        await applied(elsewhere, document)
        expect(await exported(elsewhere)).toEqual(document)
        expect((await planned(elsewhere, document)).counts).toMatchObject({ unchanged: things, create: 0, update: 0 })
      }),
      { numRuns: CASES, seed: 20_260_115 },
    )
    expect(seen.things).toBeGreaterThan(CASES * 5)
    expect(seen.whole).toBeGreaterThan(CASES / 10)
    expect(seen.withIds).toBeGreaterThan(0)
  })
  it('becomes what the document of another one says, and then nothing is left to do', async () => {
    const done = { updates: 0, cases: 0 }
    await fc.assert(
      fc.asyncProperty(openModel, openModel, async (before, after) => {
        await empty()
        await make(before)
        await make(after, elsewhere)
        const document = await exported(elsewhere)
        const { counts } = await planned(here, document)
        // Two of a name here, or a target of another kind: told before anything happens.
        if (counts.flawed > 0) return
        await applyDocument(ports, here, { document, may, prune: true })
        const { items } = await planned(here, document)
        expect(items.filter(({ action, flaws }) => action !== 'unchanged' || flaws.length > 0)).toEqual([])
        done.cases += 1
        done.updates += counts.update
      }),
      { numRuns: Math.ceil(CASES / 4), seed: 20_260_116 },
    )
    expect(done.cases).toBeGreaterThan(CASES / 12)
    expect(done.updates).toBeGreaterThan(0)
  })
})
