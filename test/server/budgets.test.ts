import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type BudgetView, budget, budgetPage } from '../../src/features/budgets/schema.ts'
import type { Page } from '../../src/api/page.ts'

import { forecast, scheduleForecast } from '../../src/features/forecast/schema.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('delete from budget')
})

const URL = '/api/v1/budgets'
const tokens = { unit: 'tokens', amount: 1_000 }
const create = async (body: unknown, headers = {}): Promise<BudgetView> => {
  const response = await world.ask('POST', URL, { body, headers })
  expect([response.statusCode, response.json<{ detail?: string }>().detail]).toEqual([201, undefined])
  return budget.parse(response.json())
}
const counted = async (): Promise<number> => (await world.ask('GET', URL)).json<Page<BudgetView>>().items.length

describe('a budget', () => {
  it('is made, shown with where it stands, changed and deleted', async () => {
    const made = await create({ unit: 'money', amount: 2.5, agent_id: 'writer', period: 'month', on_exceed: 'queue' })
    expect(made).toMatchObject({
      ...{ scope: 'agent', agent_id: 'writer', schedule_id: null, unit: 'money', amount: 2.5, period: 'month' },
      ...{ on_exceed: 'queue', spent: 0, reserved: 0, remaining: 2.5, timezone: 'UTC', org_id: 'acme' },
    })
    expect((await world.ask('GET', `${URL}/${made.id}`)).json()).toEqual(made)
    const changed = await world.ask('PATCH', `${URL}/${made.id}`, { body: { amount: 3, on_exceed: 'skip' } })
    expect([changed.statusCode, budget.parse(changed.json())]).toEqual([
      200,
      { ...made, amount: 3, on_exceed: 'skip', remaining: 3 },
    ])
    expect((await world.ask('DELETE', `${URL}/${made.id}`)).statusCode).toBe(204)
    problemIn(await world.ask('GET', `${URL}/${made.id}`), 'NOT_FOUND')
    problemIn(await world.ask('PATCH', `${URL}/${made.id}`, { body: {} }), 'NOT_FOUND')
    problemIn(await world.ask('DELETE', `${URL}/${made.id}`), 'NOT_FOUND')
  })

  it('is made once for an idempotency key', async () => {
    const headers = { 'idempotency-key': 'k' }
    expect(await create(tokens, headers)).toEqual(await create(tokens, headers))
    problemIn(await world.ask('POST', URL, { body: { ...tokens, amount: 2 }, headers }), 'IDEMPOTENCY_MISMATCH')
    expect(await counted()).toBe(1)
  })

  it.each([
    ['nothing', {}, ['/amount', '/unit']],
    ['a misspelt field', { ...tokens, onExceed: 'skip' }, ['/onExceed']],
    ['a unit that is none', { unit: 'hours', amount: 1 }, ['/unit']],
    ['an amount that is none', { unit: 'tokens', amount: 0 }, ['/amount']],
    ['half a token', { unit: 'tokens', amount: 1.5 }, ['/amount']],
    ['two owners', { ...tokens, agent_id: 'writer', schedule_id: 'x' }, ['/schedule_id']],
    ['an agent that is not there', { ...tokens, agent_id: 'nobody' }, ['/agent_id']],
    ['a schedule that is not there', { ...tokens, schedule_id: 'sch_none' }, ['/schedule_id']],
    ['a zone that is none', { ...tokens, timezone: 'Mars/Base' }, ['/timezone']],
    ['more set aside than there is', { ...tokens, default_reserve: 1_001 }, ['/default_reserve']],
  ])('is refused with %s, and nothing is made', async (_, body, pointers) => {
    expect(pointersIn(await world.ask('POST', URL, { body })).toSorted()).toEqual(pointers)
    expect(await counted()).toBe(0)
  })

  it('stays what it counts', async () => {
    const made = await create(tokens)
    const response = await world.ask('PATCH', `${URL}/${made.id}`, { body: { unit: 'money', amount: -1, odd: 1 } })
    expect(pointersIn(response).toSorted()).toEqual(['/amount', '/odd', '/unit'])
    expect((await world.ask('GET', `${URL}/${made.id}`)).json()).toEqual(made)
  })

  it('belongs to its org, and to those who may', async () => {
    const { id } = await create(tokens)
    problemIn(await world.ask('GET', `${URL}/${id}`, { as: 'stranger' }), 'NOT_FOUND')
    problemIn(await world.ask('PATCH', `${URL}/${id}`, { as: 'stranger', body: { amount: 1 } }), 'NOT_FOUND')
    problemIn(await world.ask('DELETE', `${URL}/${id}`, { as: 'stranger' }), 'NOT_FOUND')
    for (const as of ['member', 'viewer']) {
      expect((await world.ask('GET', `${URL}/${id}`, { as })).statusCode).toBe(200)
      problemIn(await world.ask('POST', URL, { as, body: tokens }), 'FORBIDDEN')
      problemIn(await world.ask('DELETE', `${URL}/${id}`, { as }), 'FORBIDDEN')
    }
  })
})

describe('the list of budgets', () => {
  it('is newest first, in pages, also of one moment', async () => {
    const made: string[] = []
    for (const ms of [0, 0, 1_000, 1_000, 1_000]) {
      world.services.pass(ms)
      made.push((await create(tokens)).id)
    }
    const all = budgetPage.parse((await world.ask('GET', URL)).json()).items
    expect(all.map(({ id }) => id).toSorted()).toEqual(made.toSorted())
    expect(all.map((one) => one.created_at)).toEqual(
      all
        .map((one) => one.created_at)
        .toSorted()
        .toReversed(),
    )
    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page<BudgetView> = (await world.ask('GET', `${URL}?limit=1&cursor=${cursor}`)).json<
        Page<BudgetView>
      >()
      expect(page.items).toHaveLength(1)
      pages.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(pages).toEqual(all.map(({ id }) => id))
    expect(pointersIn(await world.ask('GET', `${URL}?cursor=x`))).toEqual(['/cursor'])
    expect(pointersIn(await world.ask('GET', `${URL}?unit=tokens`))).toEqual(['/unit'])
  })
})

describe('over HTTP', () => {
  it('a budget that does not stand still may be resumed, by those who may', async () => {
    const { id } = await create({ ...tokens, on_exceed: 'pause' })
    const resumed = await world.ask('POST', `${URL}/${id}/resume`)
    expect([resumed.statusCode, budget.parse(resumed.json()).paused_at]).toEqual([200, null])
    problemIn(await world.ask('POST', `${URL}/${id}/resume`, { as: 'member' }), 'FORBIDDEN')
    problemIn(await world.ask('POST', `${URL}/${id}/resume`, { as: 'stranger' }), 'NOT_FOUND')
  })

  it('the next days are forecast for whoever sees budgets', async () => {
    const { id } = await create(tokens)
    const response = await world.ask('GET', `${URL}/forecast?days=7`, { as: 'viewer' })
    const view = forecast.parse(response.json())
    expect([view.days.length, view.budgets.map((one) => one.budget_id)]).toEqual([8, [id]])
    expect(pointersIn(await world.ask('GET', `${URL}/forecast?days=93`))).toEqual(['/days'])
  })

  it('a draft is forecast, and says nothing of budgets to who may not see them', async () => {
    const { id } = await create(tokens)
    const body = { every_seconds: 60, budget: { unit: 'tokens', amount: 5 }, days: 2 }
    const seen = await world.ask('POST', '/api/v1/schedules/forecast', { body, as: 'member' })
    const view = scheduleForecast.parse(seen.json())
    expect(view.budgets.map(({ after }) => after.budget_id)).toEqual(['bud_draft', id])
    problemIn(await world.ask('POST', '/api/v1/schedules/forecast', { body: { ...body, id: 'sch_none' } }), 'NOT_FOUND')
    expect(pointersIn(await world.ask('POST', '/api/v1/schedules/forecast', { body: { cron: 'x' } }))).toEqual([
      '/cron',
    ])
  })

  it('only who may write budgets gives one to a schedule', async () => {
    const body = { every_seconds: 60, budget: { unit: 'tokens', amount: 5 } }
    problemIn(await world.ask('POST', '/api/v1/schedules', { body, as: 'member' }), 'FORBIDDEN')
    const made = await world.ask('POST', '/api/v1/schedules', { body, as: 'admin' })
    expect([made.statusCode, made.json<{ budget: object }>().budget]).toMatchObject([201, { amount: 5, period: 'day' }])
  })
})
