import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { ROOT } from './root.ts'

interface Step {
  readonly name: string
  readonly folders: readonly string[]
  readonly budget: string
  readonly beside?: string
}

interface Result {
  readonly output: string
  readonly interrupted: boolean
}

interface Running {
  readonly runSteps: (
    steps: readonly Step[],
    how: {
      readonly run: (step: Step, isBeside: boolean) => Promise<Result>
      readonly print: (text: string) => void
      readonly apart?: boolean
    },
  ) => Promise<readonly (Result & { readonly step: Step; readonly budget: string })[]>
}

const { runSteps } = (await import(pathToFileURL(path.join(ROOT, 'scripts/test/run-steps.mjs')).href)) as Running

const aStep = (name: string, more: Partial<Step> = {}): Step => ({ name, folders: ['f'], budget: 'alone', ...more })

const under = aStep('under', { beside: 'beside' })

const FINE: Result = { output: '', interrupted: false }

/** Steps that end when they are told to, and everything that happens, in its order. */
function stage() {
  const events: string[] = []
  const ends = new Map<string, (result: Result | Error) => void>()
  const run = ({ name }: Step, isBeside: boolean): Promise<Result> => {
    events.push(`${name} starts${isBeside ? ' beside' : ''}`)
    return new Promise((resolve, reject) => {
      ends.set(name, (result) => {
        events.push(`${name} ends`)
        if (result instanceof Error) reject(result)
        else resolve(result)
      })
    })
  }
  const end = async (name: string, result: Result | Error = FINE): Promise<void> => {
    ends.get(name)?.(result)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { events, end, how: { run, print: (text: string) => void events.push(`print ${text.trim()}`) } }
}

it('runs steps one after the other, and beside them the one that may', async () => {
  const { events, end, how } = stage()
  const running = runSteps([aStep('one'), under, aStep('two'), aStep('three')], how)
  await end('one')
  expect(events.at(-1)).toBe('two starts')
  await end('under', { ...FINE, output: 'said' })
  // Nothing is printed into what another step prints.
  expect(events.at(-1)).toBe('under ends')
  await end('two')
  await end('three')
  const results = await running
  expect(events.filter((event) => !event.endsWith('ends'))).toEqual([
    ...['print == one: f', 'one starts', 'under starts beside', 'print == two: f', 'two starts'],
    ...['print == under: f (beside other steps)\nsaid', 'print == three: f', 'three starts'],
  ])
  expect(results.map(({ step, budget }) => `${step.name} ${budget}`)).toEqual([
    ...['one alone', 'under beside', 'two alone', 'three alone'],
  ])
})

it('runs one at a time of those that may run beside others', async () => {
  const { events, end, how } = stage()
  const later = aStep('later', { beside: 'beside' })
  const running = runSteps([under, later, aStep('one')], how)
  await end('one')
  expect(events).not.toContain('later starts beside')
  await end('under')
  expect(events).toContain('later starts beside')
  await end('later')
  expect((await running).map(({ step }) => step.name)).toEqual(['under', 'later', 'one'])
})

it('does not begin with the next of them after an interruption', async () => {
  const { events, end, how } = stage()
  const running = runSteps([under, aStep('later', { beside: 'beside' }), aStep('one')], how)
  await end('under', { ...FINE, interrupted: true })
  await end('one')
  expect((await running).map(({ step }) => step.name)).toEqual(['under', 'one'])
  expect(events).not.toContain('later starts beside')
})

it('waits at the end for what runs beside', async () => {
  const { events, end, how } = stage()
  const running = runSteps([under, aStep('one')], how)
  await end('one')
  expect(events.at(-1)).toBe('one ends')
  await end('under')
  expect(await running).toHaveLength(2)
  expect(events.at(-1)).toBe('print == under: f (beside other steps)')
})

it.each([
  ['alone', [under], false],
  ['apart', [under, aStep('one')], true],
])('runs it like any other when it is %s', async (_, steps, apart) => {
  const { events, end, how } = stage()
  const running = runSteps(steps, { ...how, apart })
  await end('under')
  await end('one')
  expect((await running).map(({ budget }) => budget)).toEqual(steps.map(() => 'alone'))
  expect(events.slice(0, 3)).toEqual(['print == under: f', 'under starts', 'under ends'])
})

it('starts nothing after an interruption, and leaves nothing behind', async () => {
  const { events, end, how } = stage()
  const running = runSteps([under, aStep('one'), aStep('two')], how)
  await end('one', { ...FINE, interrupted: true })
  await end('under', { ...FINE, interrupted: true })
  expect((await running).map(({ step }) => step.name)).toEqual(['under', 'one'])
  expect(events).not.toContain('two starts')
})

it('says what could not be run, beside others too, and only when all have ended', async () => {
  for (const [broken, other] of [
    ['under', 'one'],
    ['one', 'under'],
  ] as const) {
    const { end, how } = stage()
    let over = false
    const running = runSteps([under, aStep('one')], how).finally(() => (over = true))
    running.catch(() => undefined)
    await end(broken, new Error(`no ${broken}`))
    expect(over).toBe(false)
    await end(other)
    await expect(running).rejects.toThrow(`no ${broken}`)
  }
})
