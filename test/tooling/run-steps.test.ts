import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { ROOT } from './root.ts'

interface Step {
  readonly name: string
  readonly computes?: true
}

interface Result {
  readonly interrupted: boolean
}

interface Running {
  readonly runSteps: (
    steps: readonly Step[],
    how: { readonly run: (step: Step, isBeside: boolean) => Promise<Result>; readonly apart?: boolean },
  ) => Promise<readonly (Result & { readonly step: Step })[]>
}

const { runSteps } = (await import(pathToFileURL(path.join(ROOT, 'scripts/test/run-steps.mjs')).href)) as Running

const aStep = (name: string): Step => ({ name })
const computing = (name: string): Step => ({ name, computes: true })

const FINE: Result = { interrupted: false }

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
  return { events, end, how: { run } }
}

const namesOf = (results: readonly { readonly step: Step }[]): readonly string[] => results.map(({ step }) => step.name)

it('runs one step that waits beside one that computes, each kind in its order', async () => {
  const { events, end, how } = stage()
  const running = runSteps([aStep('one'), computing('first'), aStep('two'), computing('second')], how)
  expect(events).toEqual(['one starts', 'first starts beside'])
  await end('one')
  expect(events.at(-1)).toBe('two starts')
  await end('first')
  expect(events.at(-1)).toBe('second starts beside')
  await end('two')
  await end('second')
  expect(namesOf(await running)).toEqual(['one', 'first', 'two', 'second'])
})

it('runs two that wait side by side when nothing is left that computes', async () => {
  const { events, end, how } = stage()
  const running = runSteps([aStep('one'), aStep('two'), computing('first'), aStep('three')], how)
  await end('first')
  expect(events).toEqual(['one starts', 'first starts beside', 'first ends', 'two starts'])
  await end('two')
  expect(events.at(-1)).toBe('three starts')
  await end('one')
  await end('three')
  expect(namesOf(await running)).toEqual(['one', 'two', 'first', 'three'])
})

it('runs two that compute side by side when nothing is left that waits', async () => {
  const { events, end, how } = stage()
  const running = runSteps([computing('first'), computing('second'), aStep('one'), computing('third')], how)
  await end('one')
  expect(events).toEqual(['one starts', 'first starts beside', 'one ends', 'second starts beside'])
  for (const name of ['first', 'second', 'third']) await end(name)
  expect(namesOf(await running)).toEqual(['first', 'second', 'one', 'third'])
})

it.each([
  ['alone', [computing('under')], false],
  ['apart', [computing('under'), aStep('one')], true],
])('runs one that computes like any other when it is %s', async (_, steps, apart) => {
  const { events, end, how } = stage()
  const running = runSteps(steps, { ...how, apart })
  await end('under')
  await end('one')
  expect(namesOf(await running)).toEqual(steps.map(({ name }) => name))
  expect(events.slice(0, 2)).toEqual(['under starts', 'under ends'])
})

it('starts nothing after an interruption, in neither lane, and leaves nothing behind', async () => {
  for (const [told, other] of [
    ['under', 'one'],
    ['one', 'under'],
  ] as const) {
    const { events, end, how } = stage()
    const running = runSteps([computing('under'), aStep('one'), aStep('two'), computing('later')], how)
    await end(told, { interrupted: true })
    await end(other)
    expect(namesOf(await running)).toEqual(['under', 'one'])
    expect(events).toHaveLength(4)
  }
})

it('says what could not be run, and only when all have ended', async () => {
  for (const [broken, other] of [
    ['under', 'one'],
    ['one', 'under'],
  ] as const) {
    const { events, end, how } = stage()
    let over = false
    const running = runSteps([computing('under'), aStep('one'), aStep('two')], how).finally(() => (over = true))
    running.catch(() => undefined)
    await end(broken, new Error(`no ${broken}`))
    expect(over).toBe(false)
    await end(other)
    await expect(running).rejects.toThrow(`no ${broken}`)
    expect(events).not.toContain('two starts')
  }
})
